import { createHash } from "node:crypto";
import { type SmallText, smallText } from "../archives/packed-tar.ts";
import type { TarEntry } from "../archives/tar.ts";
import { readXml } from "../bytes/xml.ts";
import { Fault, malformed, type Verdict } from "../verdict.ts";
import type { ImageFindings, OpenTar } from "./content.ts";
import { type DiskFacts, maxDisks, passingDisk, recordDisks } from "./disk-facts.ts";
import { raw } from "./disks/formats.ts";

const chunkSize = 2 ** 20;

interface XvaDisk {
  /** Index of the last chunk so far. */
  index: number;
  size: number;
  sum: string;
  start: DiskFacts | undefined;
}

/** XenServer's export of a machine: its description, then disks in chunks of 1 MiB, each with a checksum. */
export const xvaTar: OpenTar = (findings) => {
  findings.type = "xva";
  const disks = new Map<string, XvaDisk>();
  let description: SmallText | undefined;
  let check = () => {};

  return {
    entry(entry) {
      check();
      check = () => {};
      if (entry.path === "ova.xml" && !description) {
        description = smallText(entry);
        return description.take;
      }
      const [, name, digits, kind] = entry.path.match(/^(Ref:\d+)\/(\d{8,})(\.checksum|\.xxhash)?$/) ?? [];
      if (!name || !digits || entry.type !== "file")
        throw malformed(`the XVA has ${entry.path}, expected ova.xml and chunks of disks`);
      if (!kind) return nextChunk(entry, diskOf(disks, name), Number(digits), findings);
      const sum = smallText(entry);
      check = () => refuseSum(disks.get(name), Number(digits), kind, sum.text(), findings);
      return sum.take;
    },
    async end(): Promise<Verdict> {
      check();
      await readXml(description?.text() ?? "", ["value"], "ova.xml");
      const facts = [...disks].map(([name, disk]) => ({ ...factsOf(disk), name }));
      if (facts.length === 0) throw malformed("the XVA has no disks");
      recordDisks(facts, findings);
      return "ok";
    },
  };
};

function diskOf(disks: Map<string, XvaDisk>, name: string): XvaDisk {
  const disk = disks.get(name) ?? { index: -1, size: 0, sum: "", start: undefined };
  disks.set(name, disk);
  if (disks.size > maxDisks) throw new Fault("refuse", `the XVA has over ${maxDisks} disks`);
  return disk;
}

/** XenServer omits chunks of zeros, except the last one. */
function nextChunk(
  entry: TarEntry,
  disk: XvaDisk,
  index: number,
  findings: ImageFindings,
): (chunk: Uint8Array) => void {
  if (index <= disk.index || disk.size % chunkSize !== 0 || entry.size > chunkSize)
    throw malformed(
      `the XVA has ${entry.path} after chunk ${disk.index}, or one that is not 1 MiB before it`,
    );
  disk.index = index;
  disk.size = index * chunkSize + entry.size;
  const hash = createHash("sha1");
  const isFirst = index === 0 && entry.size > 0;
  const consume = isFirst
    ? passingDisk(entry, { ...findings, notes: [] }, (facts) => (disk.start = facts), raw)
    : () => {};
  let left = entry.size;
  return (chunk) => {
    hash.update(chunk);
    consume(chunk);
    left -= chunk.length;
    if (left === 0) disk.sum = hash.digest("hex");
  };
}

function refuseSum(
  disk: XvaDisk | undefined,
  index: number,
  kind: string,
  text: string,
  findings: ImageFindings,
): void {
  if (disk?.index !== index)
    throw malformed(`the XVA has a checksum of chunk ${index} that does not follow it`);
  const unknown = "its chunks have checksums of a kind that is not supported (xxhash)";
  if (kind === ".xxhash" && !findings.notes.includes(unknown)) findings.notes.push(unknown);
  if (kind === ".checksum" && text.trim().toLowerCase() !== disk.sum)
    throw new Fault("bad-digest", `the XVA has chunk ${index}, which differs from its checksum`);
}

const factsOf = ({ start, size }: XvaDisk): DiskFacts => ({
  format: "raw",
  variant: "raw",
  virtual_size: size,
  boot: start?.boot ?? "unknown",
});
