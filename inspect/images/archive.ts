import type { TarEntry } from "../archives/tar-paths.ts";
import { pathSet } from "../archives/tar-paths.ts";
import { selfCheckFinder } from "../self-check.ts";
import { Fault, malformed } from "../verdict.ts";
import type { OpenTar } from "./content.ts";

/** An archive with the files of a client. */
export const archiveTar: OpenTar = (findings, options) => {
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
