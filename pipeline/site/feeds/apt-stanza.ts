import { controlFault, parseParagraph } from "../../../shared/control-paragraph.ts";
import type { DebMetadata } from "../../../shared/package-metadata.ts";
import { type FeedLocation, unusablePath } from "./feed.ts";

/**
 * The paragraph of a deb in `Packages`: its control paragraph unchanged, and the fields that locate its file.
 * @returns with a final line feed; a reason if the index cannot carry it
 */
export function debStanza(
  { control, arch }: DebMetadata,
  { path, size, sha256 }: FeedLocation,
): { stanza: string } | { reason: string } {
  const text = control.replace(/\n+$/, "");
  // Anything can write a manifest, and another line here could forge another package.
  const fault = controlFault(text) ?? separatorFault(text);
  if (fault) return { reason: `its control paragraph ${fault}` };
  const fields = parseParagraph(text);
  const stated = typeof fields === "string" ? undefined : fields.get("architecture");
  if (stated !== arch)
    return { reason: `its control paragraph says Architecture: ${stated}, and its manifest says ${arch}` };
  if (unusable.test(path)) return { reason: `${unusablePath} ${JSON.stringify(path)}` };
  return {
    stanza: `${withoutEmptyFields(`${text}\n`)}Filename: ${path}\nSize: ${size}\nSHA256: ${sha256}\n`,
  };
}

/** Programs other than apt refuse some of them: reprepro stops at an empty Source. */
const withoutEmptyFields = (text: string): string => text.replace(/^[^ \t\n:]+:[ \t]*\n(?![ \t])/gm, "");

/**
 * apt sends `?` and `#` as they are. apt before 2.3.6, and debmirror, which then refuses the whole suite, also send `%` as it is.
 * Readers trim the value of a field.
 */
const unusable = /[?#%\u2028\u2029]|^\s|\s$/;

/** Readers that split text by Unicode's rules would begin another line here. */
const separatorFault = (text: string): string | undefined =>
  /[\u2028\u2029]/.test(text) ? "has a line separator of Unicode" : undefined;
