import type { PublicKey, SignaturePacket } from "openpgp";
import { armored, dearmored } from "../../../shared/openpgp-armor.ts";
import type { FeedCertificate } from "./certificates.ts";

/** The line ends of a `text` signature count as CRLF, regardless of the actual ones (RFC 9580, section 5.2.1). */
export type SignatureKind = "binary" | "text";

/** Signs for package repositories with an OpenPGP key, which may be stored anywhere. */
export interface FeedSigner {
  certificate: FeedCertificate;
  /**
   * @param time milliseconds since 1970; a program may take its own
   * @returns signature packets of this key, verified with its certificate
   */
  sign(bytes: Uint8Array, kind: SignatureKind, time: number): Promise<Uint8Array>;
}

export const signatureTitle = "PGP SIGNATURE";

/** A detached signature by every key, the oldest first: some clients check only the first one. */
export async function detachedSignature(
  signers: readonly FeedSigner[],
  bytes: Uint8Array,
  kind: SignatureKind,
  time: number,
): Promise<string> {
  const packets: Uint8Array[] = [];
  for (const signer of signers)
    packets.push(await signer.sign(bytes, kind, Math.max(time, signer.certificate.usableFrom)));
  return armored(signatureTitle, Buffer.concat(packets));
}

/** Signs a text in the form of InRelease (RFC 9580, section 7). @param text with a final line end */
export const clearsigned = async (
  signers: readonly FeedSigner[],
  text: string,
  time: number,
): Promise<string> =>
  clearsignedFile(text, await detachedSignature(signers, signedBytes(text), "text", time));

/** The line end before the signature is not signed. */
const signedBytes = (text: string): Uint8Array => new TextEncoder().encode(text.replace(/\n$/, ""));

async function clearsignedFile(text: string, signature: string): Promise<string> {
  const { enums } = await import("openpgp");
  const hashes = new Set((await packetsOf(signature)).map(({ hashAlgorithm }) => Number(hashAlgorithm)));
  const names = [...hashes].map((id) => enums.read(enums.hash, id).toUpperCase());
  const escaped = text.replace(/^-/gm, "- -");
  return `-----BEGIN PGP SIGNED MESSAGE-----\nHash: ${names.join(",")}\n\n${escaped}${signature}`;
}

/** Text and signature of a clear-signed file; undefined if `clearsigned` would write it differently. */
export async function readClearsigned(file: string) {
  const found = /\n\n([\s\S]*?\n)(-----BEGIN PGP SIGNATURE-----\n[\s\S]*)$/.exec(file);
  if (!found) return undefined;
  const [, escaped = "", signature = ""] = found;
  const text = escaped.replace(/^- /gm, "");
  const again = await clearsignedFile(text, signature).catch(() => undefined);
  return again === file ? { text, signature } : undefined;
}

export const signersOfText = (
  { text, signature }: { text: string; signature: string },
  certificates: readonly FeedCertificate[],
  now: number,
): Promise<Signers> => signersOf(signedBytes(text), signature, "text", certificates, now);

/** Fingerprint of the certificate that made each signature; undefined: it is wrong, or by another key. */
type Signers = readonly (string | undefined)[];

/**
 * @param signature one armored block, as `detachedSignature` writes it; any other has no signatures
 * @param now milliseconds since 1970; later signatures do not count
 */
export async function signersOf(
  bytes: Uint8Array,
  signature: string,
  kind: SignatureKind,
  certificates: readonly FeedCertificate[],
  now: number,
): Promise<Signers> {
  const { createMessage, enums, PacketList, Signature, verify } = await import("openpgp");
  const packets = await packetsOf(signature).catch(() => []);
  const signerOf = async (packet: SignaturePacket): Promise<string | undefined> => {
    if (packet.signatureType !== enums.signature[kind]) return undefined;
    const message = await createMessage({ binary: bytes });
    const list = new PacketList<SignaturePacket>();
    list.push(packet);
    for (const { key, fingerprint } of certificates) {
      const { signatures } = await verify({
        message,
        signature: new Signature(list),
        verificationKeys: key as PublicKey,
        date: new Date(now),
        format: "binary",
      });
      if (await signatures[0]?.verified.catch(() => false)) return fingerprint;
    }
    return undefined;
  };
  return Promise.all(packets.map(signerOf));
}

/** @throws Error unless the text is one block of signature packets in their usual form */
async function packetsOf(signature: string): Promise<SignaturePacket[]> {
  const { readSignature } = await import("openpgp");
  const [block = new Uint8Array()] = dearmored(signatureTitle, signature);
  const read = await readSignature({ binarySignature: block });
  if (armored(signatureTitle, read.write()) !== signature)
    throw new TypeError("bytes other than a signature");
  return [...read.packets];
}
