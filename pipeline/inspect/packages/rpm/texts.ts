import { isUtf8 } from "node:buffer";
import { Fault, malformed } from "../../../documents/verdict.ts";
import { type RpmHeader, textsOf } from "./header.ts";

/** More files than any package has. */
const mostTexts = 1_000_000;

/** Empty if the tag is missing. @throws Fault malformed, if it is not UTF-8; refuse */
export function utf8TextsOf(header: RpmHeader, tag: number): string[] {
  const value = header.tags.get(tag);
  if (value && !isUtf8(value.bytes)) throw malformed(`tag ${tag} is not UTF-8`);
  if (value && value.count > mostTexts)
    throw new Fault("refuse", `tag ${tag} has ${value.count} texts, expected ${mostTexts} at most`);
  return textsOf(header, tag);
}

/** The first text, which is the one without translation; undefined if the tag is missing or empty. */
export const utf8TextOf = (header: RpmHeader, tag: number): string | undefined =>
  utf8TextsOf(header, tag)[0] || undefined;
