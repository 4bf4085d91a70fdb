import { isUtf8 } from "node:buffer";
import { Fault } from "../../verdict.ts";
import { type RpmHeader, textsOf } from "./header.ts";

/** More files than any package has. */
const maxTexts = 1_000_000;

/** Control characters and symbols of ISO 8859-1, which other encodings use for quotation marks and letters. */
const symbols = /[\u0080-\u00bf]/g;

/**
 * Empty if the tag is missing. Old packages do not state their encoding. As createrepo_c does, a text that is not UTF-8
 * is read as ISO 8859-1 without control characters and symbols.
 * @throws Fault malformed, if the tag holds no text; refuse
 */
export function decodedTextsOf(header: RpmHeader, tag: number): string[] {
  const value = header.tags.get(tag);
  if (value && value.count > maxTexts)
    throw new Fault("refuse", `tag ${tag} has ${value.count} texts, expected ${maxTexts} at most`);
  const texts = textsOf(header, tag);
  if (!value || isUtf8(value.bytes)) return texts;
  const inLatin1 = value.bytes.subarray(0, -1).toString("latin1").split("\0");
  return texts.map((text, index) => {
    const other = inLatin1[index] ?? "";
    return isUtf8(Buffer.from(other, "latin1")) ? text : other.replace(symbols, "");
  });
}

/** The first text, which is the one without translation; undefined if the tag is missing or empty. */
export const decodedTextOf = (header: RpmHeader, tag: number): string | undefined =>
  decodedTextsOf(header, tag)[0] || undefined;
