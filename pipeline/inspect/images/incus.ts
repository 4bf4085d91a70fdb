import { malformed, type Verdict } from "../../documents/verdict.ts";
import { type SmallText, smallText } from "../bytes/small-text.ts";
import { readMapping } from "../packages/helm-provenance.ts";
import type { ImageFindings, OpenTar } from "./content.ts";
import { passingDisk } from "./disk-facts.ts";
import { raw } from "./disks/formats.ts";

const metadataFile = "metadata.yaml";
const diskFile = "rootfs.img";

/**
 * Incus images: metadata with or without the file system
 * (https://linuxcontainers.org/incus/docs/main/reference/image_format/).
 */
export const incusTar: OpenTar = (told) => {
  told.type = "incus";
  let metadata: SmallText | undefined;
  told.facts.content = "metadata";
  return {
    entry(entry) {
      if (entry.path === metadataFile) {
        if (metadata) throw malformed(`the image has ${metadataFile} twice`);
        metadata = smallText(entry);
        return metadata.take;
      }
      if (entry.path === "rootfs" || entry.path === "rootfs.squashfs") told.facts.content = "container";
      if (entry.path !== diskFile) return undefined;
      told.facts.content = "virtual-machine";
      return passingDisk(entry, told, (facts) => Object.assign(told.facts, facts), raw);
    },
    async end(): Promise<Verdict> {
      if (!metadata) throw malformed(`the image has no ${metadataFile}, expected it next to its file system`);
      await tellMetadata(metadata.text(), told);
      return "ok";
    },
  };
};

/** @throws Fault malformed, if fields are missing that Incus requires */
async function tellMetadata(text: string, told: ImageFindings): Promise<void> {
  const { architecture, creation_date: created, properties } = await readMapping(text, metadataFile);
  if (typeof architecture !== "string" || architecture === "")
    throw malformed(`${metadataFile} does not say the architecture`);
  if (typeof created !== "string" || !/^[1-9]\d{0,11}$/.test(created))
    throw malformed(`${metadataFile} does not say creation_date in seconds since 1970`);
  told.facts.architecture = architecture;
  told.facts.creation_date = Number(created);
  for (const [name, value] of Object.entries(properties instanceof Object ? properties : {}))
    if (["os", "release", "variant", "description"].includes(name)) told.facts[name] = String(value);
}
