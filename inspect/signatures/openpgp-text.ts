import { crc24 } from "../../shared/openpgp-armor.ts";
import { malformed } from "../verdict.ts";

/** Maps a range of decoded bytes to a range of the text. */
export type Place = (from: number, to: number) => { from: number; to: number };

/** Characters that rpm skips in base64. */
export const blanks = /[\0- ]+/g;

/** For base64 with blanks that begins at `base`. Millions of runs are found only if they hold a signature. */
export function base64Place(base: number, text: string): Place {
  const runs = () =>
    text.matchAll(/[^\0- ]+/g).map(({ 0: run, index }) => ({ text: run, from: base + index }));
  return (from, to) => placeIn([...runs()])(from, to);
}

const placeIn =
  (lines: readonly Line[]): Place =>
  (from, to) => ({
    from: at(lines, Math.floor((from * 4) / 3)),
    to: at(lines, Math.ceil((to * 4) / 3) - 1) + 1,
  });

const title = "PGP SIGNATURE";

export const isArmored = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, 11)).toString("latin1") === "-----BEGIN ";

/**
 * Decodes the armored signature (RFC 9580, section 6.2) at the beginning of a text.
 * @param base its offset in the file @throws Fault malformed
 */
export function readArmor(text: Uint8Array, base: number, what: string) {
  const lines = linesOf(Buffer.from(text).toString("latin1"), base);
  if (lines.shift()?.text !== `-----BEGIN ${title}-----`)
    throw malformed(`${what} does not begin with BEGIN ${title}`);
  const blank = lines.findIndex((line) => line.text === "");
  const headers = lines.splice(0, blank + 1).slice(0, -1);
  if (blank < 0 || headers.some((line) => !/^[A-Za-z]+: /.test(line.text)))
    throw malformed(`${what} has other headers than lines such as "Comment: …", and then an empty line`);
  const end = lines.findIndex((line) => line.text === `-----END ${title}-----`);
  if (end < 0) throw malformed(`${what} has no END ${title}`);
  const body = lines.slice(0, end);
  const sum = body.at(-1)?.text.match(/^=([A-Za-z0-9+/]{4})$/)?.[1];
  if (sum) body.pop();
  const bytes = decoded(body, what);
  if (sum && sum !== crc24(bytes)) throw malformed(`${what} does not have the checksum that it ends with`);
  return {
    bytes,
    /** Header lines such as `Comment:`, which no signature covers. */
    headers: headers.map(({ from, text: { length } }) => ({
      from,
      to: from + length,
      why: "header of the armor",
    })),
    place: placeIn(body),
    /** True if other text follows the armor. */
    isFollowed: lines.slice(end + 1).some((line) => line.text !== ""),
  };
}

interface Line {
  text: string;
  from: number;
}

/** Line ends (LF or CRLF) are removed. */
export function linesOf(text: string, base: number): Line[] {
  let from = base;
  return text.split("\n").map((line) => {
    const found = { text: line.replace(/\r$/, ""), from };
    from += line.length + 1;
    return found;
  });
}

function decoded(body: readonly Line[], what: string): Uint8Array {
  const text = body.map((line) => line.text).join("");
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") !== text || body.some((line) => line.text === ""))
    throw malformed(`${what} contains something other than base64`);
  return bytes;
}

/** Offset of the character with this index. */
function at(body: readonly Line[], index: number): number {
  let left = index;
  for (const { text, from } of body) {
    if (left < text.length) return from + left;
    left -= text.length;
  }
  return 0;
}

const begin = "-----BEGIN PGP SIGNED MESSAGE-----";
const signatureBegin = "-----BEGIN PGP SIGNATURE-----";

export const isCleartext = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, begin.length)).toString("latin1") === begin;

/** Parses a clear-signed text (RFC 9580, section 7), and does not verify it. */
export function readCleartext(bytes: Uint8Array, what: string) {
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
