import { createHash } from "node:crypto";
import { type SmallText, smallText } from "../archives/packed-tar.ts";
import { pathSet, type TarEntry, tarReader } from "../archives/tar.ts";
import { beyond } from "../archives/unpacking.ts";
import { readXml } from "../bytes/xml.ts";
import { selfCheckFinder } from "../self-check.ts";
import { badDigest, malformed, refused } from "../verdict.ts";
import {
  type DiskFacts,
  type ImageFindings,
  maxDisks,
  type OpenContent,
  type OpenTar,
  passingDisk,
  recordDisks,
  type TarContents,
} from "./disk-facts.ts";
import { raw } from "./disks/formats.ts";
import { incusEntries, incusTar } from "./incus.ts";
import { ovaTar } from "./ova.ts";

const chunkSize = 2 ** 20;

interface XvaDisk {
  /** Index of the last chunk so far. */
  index: number;
  size: number;
  sum: string;
  boot: DiskFacts["boot"];
}

/** XenServer's export of a machine: its description, then disks in chunks of 1 MiB, each with a checksum. */
const xvaTar: OpenTar = (findings) => {
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
    async end() {
      check();
      await readXml(description?.text() ?? "", ["value"], "ova.xml");
      const plain = { format: "raw", variant: "raw" };
      const facts = [...disks].map(([name, { size, boot }]) => ({
        ...plain,
        virtual_size: size,
        boot,
        name,
      }));
      if (facts.length === 0) throw malformed("the XVA has no disks");
      recordDisks(facts, findings);
    },
  };
};

function diskOf(disks: Map<string, XvaDisk>, name: string): XvaDisk {
  const disk = disks.get(name) ?? { index: -1, size: 0, sum: "", boot: "unknown" };
  disks.set(name, disk);
  if (disks.size > maxDisks) throw refused(`the XVA has over ${maxDisks} disks`);
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
    ? passingDisk(entry, { ...findings, notes: [] }, ({ boot }) => (disk.boot = boot), raw)
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
    throw badDigest(`the XVA has chunk ${index}, which differs from its checksum`);
}

/** Google's import requires exactly one file with this name. */
const wanted = "disk.raw";

/** A disk for Google Compute Engine: https://cloud.google.com/compute/docs/import/import-existing-image */
const gceTar: OpenTar = (findings) => {
  findings.type = "gce";
  let disk: DiskFacts | undefined;
  return {
    entry(entry) {
      if (disk || entry.path !== wanted || entry.type !== "file")
        throw refused(`the archive has ${entry.path}, expected ${wanted} and nothing else`);
      return passingDisk(entry, findings, (facts) => (disk = facts), raw);
    },
    end() {
      if (!disk) throw refused(`the archive has no ${wanted} with content`);
      Object.assign(findings.facts, disk);
    },
  };
};

/** The first entry distinguishes an image from a client's files. */
const images: readonly (readonly [RegExp, OpenTar])[] = [
  [/^[^/]+\.ovf$/i, ovaTar],
  [/^ova\.xml$/, xvaTar],
  [/^[^/]+\.raw$/, gceTar],
  [incusEntries, incusTar],
];

/** Real files do not compress by a factor of 1,000; empty disks do. */
const maxRatio = 1000;
const alwaysAllowed = 2 ** 20;

export const tarContent: OpenContent = (findings, options, source) => {
  findings.type = "tar";
  let open: OpenTar | undefined;
  let contents: TarContents | undefined;
  let passed = 0;
  const most = alwaysAllowed + maxRatio * source.size;

  const tar = tarReader((entry) => {
    if (entry.path === "." && entry.type === "directory") return undefined;
    open ??= images.find(([first]) => first.test(entry.path))?.[1] ?? archiveTar;
    contents ??= open(findings, options);
    return contents.entry(entry);
  }, options.limit);

  return {
    write(chunk) {
      passed += chunk.length;
      if (passed > most && (!open || open === archiveTar)) throw beyond(source.name, most);
      tar.write(chunk);
    },
    end() {
      tar.end();
      if (!contents) throw malformed(`${source.name} is an archive without files`);
      return contents.end();
    },
  };
};

/** An archive with the files of a client. */
const archiveTar: OpenTar = (findings, options) => {
  findings.type = "tar";
  const finder = selfCheckFinder(options.selfCheck);
  findings.finder = finder;
  const paths = pathSet();
  const tops = new Set<string>();
  let count = 0;
  let size = 0;
  return {
    entry(entry) {
      refuseAbsolute(entry);
      if (paths.has(entry.path)) throw malformed(`the archive has ${entry.path} twice`);
      paths.add(entry.path);
      if (tops.size < 2) tops.add(entry.path.split("/", 1).join(""));
      count++;
      size += entry.size;
      return entry.type === "file" ? finder.file(entry.path) : undefined;
    },
    end() {
      const [top = null] = tops;
      Object.assign(findings.facts, {
        entries: count,
        files_size: size,
        top_folder: tops.size === 1 ? top : null,
      });
    },
  };
};

/** An archive may be unpacked anywhere, so the target of an absolute link is unpredictable. */
function refuseAbsolute({ path, type, linkname = "" }: TarEntry): void {
  if (linkname.startsWith("/")) throw malformed(`the link ${path} leads out of the archive, to ${linkname}`);
  if (type === "other") throw refused(`the archive has the device or pipe ${path}, expected files only`);
}
