import { controlFault, parseParagraph } from "../../../shared/control-paragraph.ts";
import { architecture, type DebMetadata } from "../../../shared/package-metadata.ts";
import type { ByteSource } from "../../bytes/byte-source.ts";
import { Fault, malformed } from "../../verdict.ts";
import { readArchive } from "./archive.ts";
import { contentsOf, controlText, upToData } from "./contents.ts";

/** Reads the control paragraph as dpkg does, which ignores members after the data and does not unpack it. @throws Fault; whatever decompress throws */
export async function debMetadata(source: ByteSource): Promise<DebMetadata> {
  const control = await controlText(contentsOf(source, upToData(readArchive(source))).control);
  const fault = controlFault(control);
  const fields = parseParagraph(control);
  if (fault !== undefined || typeof fields === "string") throw malformed(`its control file ${fault}`);
  const arch = fields.get("architecture") ?? "";
  if (!architecture.safeParse(arch).success)
    throw new Fault(
      "unsupported-format",
      `its architecture is ${JSON.stringify(arch)}, which dpkg does not know`,
    );
  return { type: "deb", arch, control };
}
