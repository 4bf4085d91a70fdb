import { controlFault, parseParagraph } from "../../../documents/feeds/control-paragraph.ts";
import {
  type Architecture,
  architectureNames,
  type DebMetadata,
} from "../../../documents/feeds/package-metadata.ts";
import { malformed } from "../../../documents/verdict.ts";
import type { ByteSource } from "../../../system/byte-source.ts";
import { architectureNamed } from "../../architecture.ts";
import { readArchive } from "./archive.ts";
import { contentsOf, controlText } from "./contents.ts";

/** Debian's own names are those of relcat. */
const architectures = new Map<string, Architecture>(architectureNames.map((name) => [name, name]));

/** Reads the control paragraph, without unpacking the data. @throws Fault; whatever decompress throws */
export async function debMetadata(source: ByteSource): Promise<DebMetadata> {
  const control = await controlText(contentsOf(source, readArchive(source)).control);
  const fault = controlFault(control);
  const fields = parseParagraph(control);
  if (fault !== undefined || typeof fields === "string") throw malformed(`its control file ${fault}`);
  return { type: "deb", arch: architectureNamed(fields.get("architecture") ?? "", architectures), control };
}
