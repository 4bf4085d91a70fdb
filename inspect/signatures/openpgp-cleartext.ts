import { type Uncovered, utf8 } from "../bytes/byte-source.ts";
import type { InspectOptions } from "../inspection.ts";
import { malformed } from "../verdict.ts";
import { digestNameOf, verifierOf } from "./openpgp.ts";
import { linesOf } from "./openpgp-armor.ts";
import { claimedSignature, type Found } from "./openpgp-claim.ts";

/** A clear-signed text (RFC 9580, section 7), parsed but not verified. */
interface Cleartext {
  /** The signed form: CRLF line ends, no trailing white space, no line end after the last line. */
  canonical: Uint8Array;
  /** Hash algorithm according to the header. */
  hash: string;
  /** From BEGIN PGP SIGNATURE to the end, and its offset. */
  signature: Uint8Array;
  signatureAt: number;
  /** Trailing white space of lines. */
  uncovered: readonly Uncovered[];
}

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

function readCleartext(bytes: Uint8Array, what: string): Cleartext {
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
  const signed = text.map((line) => line.text.replace(/^- /, "").replace(/[ \t\r]+$/, ""));
  return {
    canonical: Buffer.from(signed.join("\r\n"), "latin1"),
    hash,
    signature: bytes.subarray(signatureAt),
    signatureAt,
    uncovered: text.flatMap(({ text: { length }, from }, index) => {
      const to = file.indexOf("\n", from);
      const prefix = file.startsWith("- ", from) ? 2 : 0;
      const end = from + prefix + (signed[index]?.length ?? length);
      return end < to ? [{ from: end, to, why: "white space at the end of a line" }] : [];
    }),
  };
}
