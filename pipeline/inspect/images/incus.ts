import { malformed, type Verdict } from "../../documents/verdict.ts";
import { type SmallText, smallText } from "../bytes/small-text.ts";
import { readMapping } from "../packages/helm/provenance.ts";
import type { ImageFindings, OpenTar } from "./content.ts";
import { passingDisk } from "./disk-facts.ts";
import { raw } from "./disks/formats.ts";

const metadataFile = "metadata.yaml";
const diskFile = "rootfs.img";

/**
 * Incus images: metadata with or without the file system
 * (https://linuxcontainers.org/incus/docs/main/reference/image_format/).
 */
export const incusTar: OpenTar = (findings) => {
  findings.type = "incus";
  let metadata: SmallText | undefined;
  findings.facts.content = "metadata";
  return {
    entry(entry) {
      if (entry.path === metadataFile) {
        if (metadata) throw malformed(`the image has ${metadataFile} twice`);
        metadata = smallText(entry);
        return metadata.take;
      }
      if (entry.path === "rootfs" || entry.path === "rootfs.squashfs") findings.facts.content = "container";
      if (entry.path !== diskFile) return undefined;
      findings.facts.content = "virtual-machine";
      return passingDisk(entry, findings, (facts) => Object.assign(findings.facts, facts), raw);
    },
    async end(): Promise<Verdict> {
      if (!metadata) throw malformed(`the image has no ${metadataFile}, expected it next to its file system`);
      await recordMetadata(metadata.text(), findings);
      return "ok";
    },
  };
};

/** @throws Fault malformed, if fields are missing that Incus requires */
async function recordMetadata(text: string, findings: ImageFindings): Promise<void> {
  const { architecture, creation_date: created, properties } = await readMapping(text, metadataFile);
  if (typeof architecture !== "string" || architecture === "")
    throw malformed(`${metadataFile} does not say the architecture`);
  if (typeof created !== "string" || !/^[1-9]\d{0,11}$/.test(created))
    throw malformed(`${metadataFile} does not say creation_date in seconds since 1970`);
  findings.facts.architecture = architecture;
  findings.facts.creation_date = Number(created);
  for (const [name, value] of Object.entries(properties instanceof Object ? properties : {}))
    if (["os", "release", "variant", "description"].includes(name)) findings.facts[name] = String(value);
}
