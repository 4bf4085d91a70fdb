import { utf8 } from "../bytes/byte-source.ts";
import type { InspectOptions, Signature, settled } from "../inspection.ts";
import { malformed } from "../verdict.ts";
import { digestNameOf, keysOf, verifierOf } from "./openpgp.ts";
import { isArmored, linesOf, type Place, readArmor } from "./openpgp-armor.ts";
import { type OpenPgpSignature, readOpenPgpSignature } from "./openpgp-signature.ts";

const begin = "-----BEGIN PGP SIGNED MESSAGE-----";
const signatureBegin = "-----BEGIN PGP SIGNATURE-----";

export const isCleartext = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, begin.length)).toString("latin1") === begin;

/**
 * The verified text, with LF line ends. Callers must not read any other part of the file.
 * @throws Fault malformed, and as verifierOf
 */
export async function verifiedText(
  bytes: Uint8Array,
  what: string,
  options: InspectOptions,
  found: Found,
): Promise<string> {
  const { canonical, hash, signature: written, signatureAt, uncovered } = readCleartext(bytes, what);
  found.uncovered = [...(found.uncovered ?? []), ...uncovered];
  const signature = await claimedSignature(written, {
    base: signatureAt,
    what,
    style: "gpg",
    options,
    found,
  });
  if (hash !== digestNameOf(signature))
    throw malformed(`${what} says "Hash: ${hash}", which its signature does not use`);
  const verifier = verifierOf(signature, "text", options);
  verifier.hash.update(canonical);
  await verifier.conclude();
  return utf8(canonical, what).replaceAll("\r\n", "\n");
}

/** Parses a clear-signed text (RFC 9580, section 7), and does not verify it. */
function readCleartext(bytes: Uint8Array, what: string) {
  const file = Buffer.from(bytes).toString("latin1");
  const lines = linesOf(file, 0);
  const [first, header, blank] = lines;
  const hash = header?.text.match(/^Hash: ([A-Z0-9-]+)$/)?.[1];
  if (first?.text !== begin || !hash || blank?.text !== "")
    throw malformed(`${what} does not begin with ${begin}, one line "Hash: …" and an empty line`);
  const end = lines.findIndex((line) => line.text === signatureBegin);
  const signatureAt = lines[end]?.from;
  if (signatureAt === undefined) throw malformed(`${what} has no ${signatureBegin}`);
  const text = lines.slice(3, end);
  if (text.some((line) => line.text.startsWith("-") && !line.text.startsWith("- ")))
    throw malformed(`${what} has a line that begins with "-", expected "- " before it`);
  const signed = text.map((line) => line.text.replace(/^- /, "").replace(/(?<![ \t\r])[ \t\r]+$/, ""));
  return {
    /** The signed form: CRLF line ends, no trailing white space, no line end after the last line. */
    canonical: Buffer.from(signed.join("\r\n"), "latin1"),
    /** Hash algorithm according to the header. */
    hash,
    /** From BEGIN PGP SIGNATURE to the end, and its offset. */
    signature: bytes.subarray(signatureAt),
    signatureAt,
    /** Trailing white space of lines. */
    uncovered: text.flatMap(({ text: { length }, from }, index) => {
      const to = file.indexOf("\n", from);
      const prefix = file.startsWith("- ", from) ? 2 : 0;
      const end = from + prefix + (signed[index]?.length ?? length);
      return end < to ? [{ from: end, to, why: "white space at the end of a line" }] : [];
    }),
  };
}

export type Found = Parameters<typeof settled>[1];

/** Vocabulary and key id format of rpm or of gpg. */
type Style = "rpm" | "gpg";

/**
 * Reads a signature, armored or binary, and records the claimed signer and the uncovered bytes.
 * @param base its offset in the file
 * @param place maps a range of the bytes to the file, if they were encoded there
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
