import { pathSet, type TarEntry, tarReader } from "../archives/tar.ts";
import { beyond } from "../archives/unpacking.ts";
import { selfCheckFinder } from "../self-check.ts";
import { Fault, malformed } from "../verdict.ts";
import type { OpenContent, OpenTar, TarContents } from "./content.ts";
import { type DiskFacts, passingDisk } from "./disk-facts.ts";
import { raw } from "./disks/formats.ts";
import { incusEntries, incusTar } from "./incus.ts";
import { ovaTar } from "./ova.ts";
import { xvaTar } from "./xva.ts";

/** Google's import requires exactly one file with this name. */
const wanted = "disk.raw";

/** A disk for Google Compute Engine: https://cloud.google.com/compute/docs/import/import-existing-image */
const gceTar: OpenTar = (findings) => {
  findings.type = "gce";
  let disk: DiskFacts | undefined;
  return {
    entry(entry) {
      if (disk || entry.path !== wanted || entry.type !== "file")
        throw new Fault("refuse", `the archive has ${entry.path}, expected ${wanted} and nothing else`);
      return passingDisk(entry, findings, (facts) => (disk = facts), { ...raw, isIt: () => true });
    },
    end() {
      if (!disk) throw new Fault("refuse", `the archive has no ${wanted} with content`);
      Object.assign(findings.facts, disk);
      return "ok";
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
      return "ok";
    },
  };
};

/** An archive may be unpacked anywhere, so the target of an absolute link is unpredictable. */
function refuseAbsolute({ path, type, linkname = "" }: TarEntry): void {
  if (linkname.startsWith("/")) throw malformed(`the link ${path} leads out of the archive, to ${linkname}`);
  if (type === "other")
    throw new Fault("refuse", `the archive has the device or pipe ${path}, expected files only`);
}
