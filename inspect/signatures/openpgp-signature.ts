import type { SignaturePacket } from "openpgp";
import { Fault, malformed, unsupported } from "../verdict.ts";

export type OpenPgpSignature = Awaited<ReturnType<typeof readOpenPgpSignature>>;

/** Signature types of RFC 9580, section 5.2.1. */
export const signatureTypes = { binary: 0, text: 1 } as const;

const signatureTag = 2;

/**
 * Parses exactly one binary signature packet (RFC 9580, section 5.2), and does not verify it.
 * @throws Fault malformed; unsupported-format
 */
export async function readOpenPgpSignature(bytes: Uint8Array, what: string) {
  const { SignaturePacket } = await import("openpgp");
  const { tag, start } = packetFrame(bytes, what);
  const version = bytes[start];
  if (tag === signatureTag && version !== 4)
    throw unsupported(`${what} is a signature of version ${version}, expected 4`);
  if (tag !== signatureTag)
    throw malformed(`${what} is an OpenPGP packet of type ${tag}, expected a signature`);
  // A copy, because the parsed fields refer to memory that the next read overwrites.
  const body = Uint8Array.from(bytes.subarray(start));
  const packet = new SignaturePacket();
  try {
    packet.read(body);
  } catch (error) {
    const isUnknown = error instanceof Error && error.name === "UnsupportedError";
    throw new Fault(
      isUnknown ? "unsupported-format" : "malformed",
      `${what} cannot be read: ${messageOf(error)}`,
    );
  }
  // A non-canonical encoding would contain bytes that no signature covers.
  if (!Buffer.from(packet.write()).equals(body))
    throw malformed(`${what} is not written in its shortest form`);
  return {
    packet,
    ...issuerOf(packet, what),
    /** Milliseconds since 1970. */
    created: Number(packet.created),
    unhashed: unhashedArea(packet, start),
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Tag and body offset of the packet (RFC 9580, section 4.2). */
function packetFrame(bytes: Uint8Array, what: string): { tag: number; start: number } {
  const [first = 0, ...next] = bytes.subarray(0, 6);
  if ((first & 0x80) === 0) throw malformed(`${what} is not an OpenPGP packet`);
  const isNew = (first & 0x40) !== 0;
  const { octets, skip } = isNew ? newLength(next[0] ?? 0) : { octets: [1, 2, 4][first & 3] ?? 0, skip: 0 };
  const start = 1 + skip + octets;
  const length =
    isNew && octets === 2
      ? (((next[0] ?? 0) - 192) << 8) + (next[1] ?? 0) + 192
      : next.slice(skip, skip + octets).reduce((sum, octet) => sum * 256 + octet, 0);
  if (octets === 0 || start + length !== bytes.length)
    throw malformed(`${what} has ${bytes.length} bytes, expected one OpenPGP packet of definite length`);
  return { tag: isNew ? first & 0x3f : (first >> 2) & 0x0f, start };
}

/** Octets of a new-format length, and octets to skip; none for partial lengths. */
function newLength(first: number): { octets: number; skip: number } {
  if (first < 192) return { octets: 1, skip: 0 };
  if (first < 224) return { octets: 2, skip: 0 };
  return first === 255 ? { octets: 4, skip: 1 } : { octets: 0, skip: 0 };
}

/** Issuer key id in lower-case hexadecimal, and its fingerprint if the signature contains it. */
function issuerOf(packet: SignaturePacket, what: string): { keyId: string; fingerprint: string | undefined } {
  const keyId = packet.issuerKeyID.toHex();
  if (keyId === "") throw malformed(`${what} does not name its key`);
  if (packet.issuerFingerprint === null) return { keyId, fingerprint: undefined };
  const fingerprint = Buffer.from(packet.issuerFingerprint).toString("hex");
  if (fingerprint.slice(-16) !== keyId)
    throw malformed(`${what} names two issuers, ${fingerprint} and ${keyId}`);
  return { keyId, fingerprint };
}

/** Range of the unhashed subpackets, which the signature does not cover. */
function unhashedArea(packet: SignaturePacket, start: number): { from: number; to: number } {
  const from = start + (packet.signatureData?.length ?? 0) + 2;
  const sizes = packet.unhashedSubpackets
    .map(({ body }) => body.length + 1)
    .map((size) => size + lengthOctets(size));
  return { from, to: from + sizes.reduce((sum, size) => sum + size, 0) };
}

/** Octets of a subpacket's length in its shortest form (RFC 9580, section 5.2.3.7). */
const lengthOctets = (size: number): number => (size < 192 ? 1 : size < 8384 ? 2 : 5);
