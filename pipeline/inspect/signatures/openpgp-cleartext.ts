import { utf8 } from "../bytes/small-file.ts";
import { type InspectOptions, malformed, type Uncovered } from "../inspection.ts";
import { digestNameOf, verifierOf } from "./openpgp.ts";
import { linesOf } from "./openpgp-armor.ts";
import { claimedSignature, type Found } from "./openpgp-claim.ts";

/** A text with its signature below it (RFC 9580, section 7), taken apart; nothing of it is proved. */
interface Cleartext {
  /** What is signed: line ends are CRLF, lines have no white space at their ends, the last one no end. */
  canonical: Uint8Array;
  /** Its hash algorithm, as the header says. */
  hash: string;
  /** From BEGIN PGP SIGNATURE to the end, and where that begins. */
  signature: Uint8Array;
  signatureAt: number;
  /** White space at the ends of lines. */
  uncovered: readonly Uncovered[];
}

const begin = "-----BEGIN PGP SIGNED MESSAGE-----";
const signatureBegin = "-----BEGIN PGP SIGNATURE-----";

export const isCleartext = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, begin.length)).toString("latin1") === begin;

/**
 * The text that the signature below it covers, with LF at its line ends; nothing else of the file is to be read.
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

/** @throws Fault malformed */
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
