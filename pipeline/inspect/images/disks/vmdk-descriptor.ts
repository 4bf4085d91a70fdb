import { Fault, malformed } from "../../../documents/verdict.ts";

const inOneFile = ["monolithicSparse", "streamOptimized"];

/**
 * Rejects a disk whose descriptor needs other files.
 * @returns the create type
 * @throws Fault refuse, for a parent, several extents or an extent in another file; malformed
 */
export function refuseExtents(text: string, name: string): { variant: string } {
  const refuse = (reason: string) => new Fault("refuse", `${name} ${reason}`);
  const values = new Map<string, string>();
  const extents: string[] = [];
  for (const line of text.split("\n")) {
    const [key = "", ...value] = line.split("=");
    if (/^(?:RW|RDONLY|NOACCESS)\s/.test(line.trim())) extents.push(line);
    else if (value.length > 0)
      values.set(key.trim().toLowerCase(), value.join("=").trim().replaceAll('"', ""));
  }
  const variant = values.get("createtype");
  if (text.trim() === "")
    throw refuse("has no description of its own: it is a part of a disk in several files");
  if (variant === undefined) throw malformed(`${name} has a description without createType`);
  if (values.has("parentfilenamehint") || !/^f{8}$/i.test(values.get("parentcid") ?? "ffffffff"))
    throw refuse("is a difference to a parent disk, expected a disk of its own");
  if (values.has("encryption.keysafe"))
    throw refuse("is encrypted, expected one that every machine can read");
  if (extents.length !== 1) throw refuse(`is in ${extents.length} extents, expected one`);
  if (!inOneFile.includes(variant))
    throw refuse(
      `is ${JSON.stringify(variant)}, whose data lies elsewhere; expected ${inOneFile.join(" or ")}`,
    );
  return { variant };
}
