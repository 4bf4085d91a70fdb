import { compressionOf, decompress } from "../archives/decompress.ts";
import { type SmallText, smallText } from "../archives/packed-tar.ts";
import { tarReader } from "../archives/tar.ts";
import type { ByteSource } from "../bytes/byte-source.ts";
import { readMapping } from "../packages/helm/chart.ts";
import { Fault, malformed } from "../verdict.ts";
import { type ImageFindings, type OpenTar, passingDisk } from "./disk-facts.ts";
import { raw } from "./disks/formats.ts";

const metadataFile = "metadata.yaml";
const diskFile = "rootfs.img";
/** Names at the top of an archive of Incus. */
export const incusEntries = /^(?:metadata\.yaml|rootfs(?:\.img|\.squashfs)?|templates)$/;

/** Metadata with or without the file system (https://linuxcontainers.org/incus/docs/main/reference/image_format/). */
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
    async end() {
      if (!metadata) throw malformed(`the image has no ${metadataFile}, expected it next to its file system`);
      await recordMetadata(metadata.text(), findings);
    },
  };
};

const enough = new Error();

/**
 * Tells an image from other archives, which may have a metadata.yaml too. Reads no further than that file; the first
 * entry of another archive is enough.
 * @throws RelcatError, if xz cannot be read on this machine; what the source throws
 */
export async function hasIncusMetadata(source: ByteSource, limit: number): Promise<boolean> {
  let metadata: SmallText | undefined;
  const tar = tarReader((entry) => {
    if (entry.path === "." && entry.type === "directory") return undefined;
    if (metadata || !incusEntries.test(entry.path.split("/", 1)[0] ?? "")) throw enough;
    if (entry.path !== metadataFile) return undefined;
    metadata = smallText(entry);
    return metadata.take;
  });
  try {
    const compression = compressionOf(source.read(0, Math.min(6, source.size)));
    await decompress(source, compression, limit, tar.write).catch((error: unknown) => {
      if (error !== enough) throw error;
    });
    if (!metadata) return false;
    await recordMetadata(metadata.text(), { type: "incus", facts: {}, notes: [] });
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

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
