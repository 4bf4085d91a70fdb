import { createHash, type Hash, verify } from "node:crypto";
import type { PublicKey, SignaturePacket } from "openpgp";
import { utf8 } from "../bytes/byte-source.ts";
import type { Found, InspectOptions, Signature } from "../inspection.ts";
import { isWithin, type OpenPgpKey, type SigningKey } from "../keys.ts";
import { badSignature, expired, Fault, malformed, unsupported, untrusted, weak } from "../verdict.ts";
import { isRsaSigned } from "./digest.ts";
import { isArmored, type Place, readArmor, readCleartext } from "./openpgp-text.ts";

export type OpenPgpSignature = Awaited<ReturnType<typeof readOpenPgpSignature>>;

/** Types of packets and of signatures (RFC 9580, sections 5 and 5.2.1). */
const signatureTag = 2;
const signatureTypes = { binary: 0, text: 1 } as const;

/** Parses one binary signature packet (RFC 9580, section 5.2), unverified. @throws Fault malformed; unsupported-format */
async function readOpenPgpSignature(bytes: Uint8Array, what: string) {
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
    const { name, message } = error as Error;
    const fault = name === "UnsupportedError" ? unsupported : malformed;
    throw fault(`${what} cannot be read: ${message}`);
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

/** Tag and body offset of the packet (RFC 9580, section 4.2). */
function packetFrame(bytes: Uint8Array, what: string) {
  const [first = 0, ...next] = bytes.subarray(0, 6);
  if ((first & 0x80) === 0) throw malformed(`${what} is not an OpenPGP packet`);
  const isNew = (first & 0x40) !== 0;
  const { start, length } = isNew ? newLength(next) : oldLength(next, [1, 2, 4][first & 3]);
  if (start + length !== bytes.length)
    throw malformed(`${what} has ${bytes.length} bytes, expected one OpenPGP packet of definite length`);
  return { tag: isNew ? first & 0x3f : (first >> 2) & 0x0f, start };
}

/** NaN: the length is not definite. */
const oldLength = (octets: readonly number[], count = Number.NaN) => ({
  start: 1 + count,
  length: octets.slice(0, count).reduce((sum, octet) => sum * 256 + octet, 0),
});

function newLength([first = 0, ...next]: readonly number[]) {
  if (first < 192) return { start: 2, length: first };
  if (first < 224) return { start: 3, length: ((first - 192) << 8) + (next[0] ?? 0) + 192 };
  const { start, length } = oldLength(next, first === 255 ? 4 : undefined);
  return { start: start + 1, length };
}

/** Issuer key id in lower-case hexadecimal, and its fingerprint if the signature contains it. */
function issuerOf(packet: SignaturePacket, what: string) {
  const keyId = packet.issuerKeyID.toHex();
  if (keyId === "") throw malformed(`${what} does not name its key`);
  if (packet.issuerFingerprint === null) return { keyId, fingerprint: undefined };
  const fingerprint = Buffer.from(packet.issuerFingerprint).toString("hex");
  if (fingerprint.slice(-16) !== keyId)
    throw malformed(`${what} names two issuers, ${fingerprint} and ${keyId}`);
  return { keyId, fingerprint };
}

/** Range of the unhashed subpackets, which the signature does not cover. */
function unhashedArea(packet: SignaturePacket, start: number) {
  const from = start + (packet.signatureData?.length ?? 0) + 2;
  // A length in its shortest form has 1, 2 or 5 octets (RFC 9580, section 5.2.3.7).
  const lengthOctets = (size: number) => (size < 192 ? 1 : size < 8384 ? 2 : 5);
  const sizes = packet.unhashedSubpackets.map(({ body }) => body.length + 1);
  return { from, to: sizes.reduce((sum, size) => sum + lengthOctets(size) + size, from) };
}

/** RFC 9580, section 9.5. node:crypto has the same names in lower case. */
const digests = new Map([
  [8, "SHA256"],
  [9, "SHA384"],
  [10, "SHA512"],
  [11, "SHA224"],
  [12, "SHA3-256"],
  [14, "SHA3-512"],
]);
const weakDigests = new Map([
  [1, "MD5"],
  [2, "SHA1"],
  [3, "RIPEMD160"],
]);

/** Allowed clock difference between build hosts, in milliseconds. */
const skew = 24 * 60 * 60 * 1000;

/** Collects keys with this id from all files, and merges their revocations. */
function keysOf(signature: OpenPgpSignature, keys: readonly OpenPgpKey[]): (SigningKey & OpenPgpKey)[] {
  const isIt = ({ keyId, fingerprint }: SigningKey) =>
    keyId === signature.keyId && fingerprint === (signature.fingerprint ?? fingerprint);
  return keys.flatMap((certificate) =>
    certificate.signing.filter(isIt).map((key) => ({ ...certificate, ...key })),
  );
}

/**
 * Hashes the content that a signature should cover, then verifies the signature.
 * @param type accepted signature type: binary, or text in canonical form
 * @throws Fault untrusted-key, revoked-key, weak-digest, expired-certificate, bad-signature, unsupported-format
 */
export function verifierOf(signature: OpenPgpSignature, type: "binary" | "text", options: InspectOptions) {
  if (signature.packet.signatureType !== signatureTypes[type])
    throw unsupported(`it has a signature that is not over ${type} data`);
  const signer = signerOf(signature, options);
  const hash = createHash(digestOf(signature));
  return {
    hash,
    /** Called once, after the hash has received everything. @throws Fault bad-signature */
    conclude: () => conclude(signature, signer, hash),
  };
}

/** The key must have been allowed at the signature's time, and be allowed now. */
function signerOf(signature: OpenPgpSignature, { keys, now }: InspectOptions): SigningKey {
  const known = keysOf(signature, keys.openpgp);
  const [first] = known;
  const id = signature.fingerprint ?? signature.keyId;
  if (!first) throw untrusted(`it is signed by ${id}, which is not an allowed key`);
  if (known.some((key) => key.isRevoked))
    throw new Fault("revoked-key", `it is signed by ${id}, which is revoked`);
  digestOf(signature);
  refuseUnknownCritical(signature);
  const ends = Math.min(
    Math.max(...known.map((key) => key.expires)),
    Number(signature.packet.getExpirationTime()),
  );
  if (ends <= now) throw expired(`the signature or its key ${id} expired on ${day(ends)}`);
  const { created } = signature;
  const untimely = (when: string) => untrusted(`it is signed on ${day(created)}, ${when}`);
  if (created < first.created) throw untimely(`before its key ${id} was made`);
  if (created > now + skew) throw untimely("which is in the future");
  const signer = known.find((key) => isWithin(key, created));
  if (!signer) throw untimely(`when ${id} was not allowed`);
  return signer;
}

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);

function refuseUnknownCritical({ packet }: OpenPgpSignature): void {
  const [subpacket] = packet.unknownSubpackets.filter(({ critical }) => critical);
  const [notation] = packet.rawNotations.filter(({ critical }) => critical);
  if (!subpacket && !notation) return;
  const what = subpacket ? `subpacket ${subpacket.type}` : `notation ${notation?.name}`;
  throw unsupported(`the signature demands that its ${what} is understood, which it is not`);
}

/** Spelled as rpm and gpg do. */
function digestNameOf({ packet }: OpenPgpSignature): string {
  const id = Number(packet.hashAlgorithm);
  return digests.get(id) ?? weakDigests.get(id) ?? String(id);
}

const digestOf = ({ packet }: OpenPgpSignature): string => digestNumbered(Number(packet.hashAlgorithm));

/** Name in node:crypto. @param id OpenPGP number, which rpm uses too @throws Fault weak-digest; unsupported-format */
export function digestNumbered(id: number): string {
  const known = weakDigests.get(id);
  if (known) throw weak(`it is signed over ${known}, expected SHA256 or better`);
  const digest = digests.get(id);
  if (!digest) throw unsupported(`it is signed over digest ${id}, which is unknown`);
  return digest.toLowerCase();
}

async function conclude(signature: OpenPgpSignature, signer: SigningKey, hash: Hash): Promise<void> {
  const { packet } = signature;
  const own = packet.signatureData ?? new Uint8Array();
  const trailer = Buffer.from([packet.version, 0xff, 0, 0, 0, 0]);
  trailer.writeUInt32BE(own.length, 2);
  const digest = hash.update(own).update(trailer).digest();
  const isHinted = Buffer.from(packet.signedHashValue ?? []).equals(digest.subarray(0, 2));
  const isSame = packet.publicKeyAlgorithm === packetOf(signer).algorithm;
  if (!isHinted || !isSame || !(await isSigned(signature, signer, digest)))
    throw badSignature(`its signature by ${signer.fingerprint} does not fit what it should sign`);
}

async function isSigned(signature: OpenPgpSignature, signer: SigningKey, digest: Buffer): Promise<boolean> {
  const { packet } = signature;
  const { s, r, RS } =
    (packet as { params?: { s?: Uint8Array; r?: Uint8Array; RS?: Uint8Array } }).params ?? {};
  const key = signer.native;
  if (key?.asymmetricKeyType === "rsa" && s) {
    const size = Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
    return s.length <= size && isRsaSigned(key, padded(s, size), digest, digestOf(signature));
  }
  if (key?.asymmetricKeyType === "ed25519") {
    const raw =
      RS ?? (r && s && r.length <= 32 && s.length <= 32 && Buffer.concat([padded(r, 32), padded(s, 32)]));
    return raw !== undefined && raw !== false && verify(null, digest, key, raw);
  }
  // Passes our own hash, because openpgp would need the whole file in memory to compute it.
  const given = Object.assign(packet, { hashed: digest });
  return given
    .verify(packetOf(signer), Number(packet.signatureType), new Uint8Array(), null as never, true)
    .then(
      () => true,
      () => false,
    );
}

const padded = (bytes: Uint8Array, size: number): Buffer =>
  Buffer.concat([Buffer.alloc(Math.max(0, size - bytes.length)), bytes]);

const packetOf = ({ packet }: SigningKey) => packet as PublicKey["keyPacket"];

/** Vocabulary and key id format of rpm or of gpg. */
type Style = "rpm" | "gpg";

/**
 * Reads a signature, armored or binary, and records the claimed signer and the uncovered bytes.
 * @param base its offset in the file; `place`: maps a range of the bytes to the file, if they were encoded there
 * @param found the first signature of an artifact sets the signer
 * @throws Fault malformed; unsupported-format
 */
export async function claimedSignature(
  bytes: Uint8Array,
  {
    base,
    what,
    style,
    options,
    found,
    place = (from, to) => ({ from: base + from, to: base + to }),
  }: {
    base: number;
    what: string;
    style: Style;
    options: InspectOptions;
    found: Found;
    place?: Place;
  },
): Promise<OpenPgpSignature> {
  const armor = isArmored(bytes) ? readArmor(bytes, base, what) : undefined;
  const signature = await readOpenPgpSignature(armor?.bytes ?? bytes, what);
  const { from, to } = signature.unhashed;
  const unhashed = (armor?.place ?? place)(from, to);
  const why = "unhashed subpackets of an OpenPGP signature";
  found.uncovered = [...(found.uncovered ?? []), ...(armor?.headers ?? []), { ...unhashed, why }];
  const claim = claimOf(signature, options, style);
  found.key_id ??= style === "rpm" ? signature.keyId : claim.fingerprint;
  found.signature ??= claim;
  if (armor?.isFollowed) throw malformed(`text follows the end of ${what}`);
  return signature;
}

function claimOf(signature: OpenPgpSignature, { keys }: InspectOptions, style: Style): Signature {
  const [key] = keysOf(signature, keys.openpgp);
  const fingerprint = key?.fingerprint ?? signature.fingerprint ?? signature.keyId;
  return { signer: key?.userId ?? fingerprint, display: displayOf(signature, style), fingerprint };
}

/** RFC 9580, section 9.1, in rpm's words. */
const algorithms = new Map([
  [1, "RSA"],
  [17, "DSA"],
  [19, "ECDSA"],
  [22, "EdDSA"],
  [27, "Ed25519"],
  [28, "Ed448"],
]);

function displayOf(signature: OpenPgpSignature, style: Style): string {
  const made = date(signature.created);
  if (style === "gpg") return `Signature made ${made} UTC`;
  const { publicKeyAlgorithm: id } = signature.packet;
  return `${algorithms.get(Number(id)) ?? id}/${digestNameOf(signature)}, ${made}, Key ID ${signature.keyId}`;
}

/** The format of date(1) in the C locale, in UTC. */
function date(time: number): string {
  const [weekday = "", day = "", month, year, clock] = new Date(time).toUTCString().split(" ");
  return `${weekday.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${clock} ${year}`;
}

/** The verified text, with LF line ends. Callers must read no other part. @throws Fault malformed, and as verifierOf */
export async function verifiedText(
  bytes: Uint8Array,
  what: string,
  options: InspectOptions,
  found: Found,
): Promise<string> {
  const { canonical, hash, signature: written, signatureAt, uncovered } = readCleartext(bytes, what);
  found.uncovered = [...(found.uncovered ?? []), ...uncovered];
  const place = { base: signatureAt, what };
  const signature = await claimedSignature(written, { ...place, style: "gpg", options, found });
  if (hash !== digestNameOf(signature))
    throw malformed(`${what} says "Hash: ${hash}", which its signature does not use`);
  const verifier = verifierOf(signature, "text", options);
  verifier.hash.update(canonical);
  await verifier.conclude();
  return utf8(canonical, what).replaceAll("\r\n", "\n");
}
