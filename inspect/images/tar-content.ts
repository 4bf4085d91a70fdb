import { tarReader } from "../archives/tar.ts";
import { beyond } from "../archives/unpacking.ts";
import { malformed } from "../verdict.ts";
import { archiveTar } from "./archive.ts";
import type { OpenContent, OpenTar, TarContents } from "./content.ts";
import { gceTar } from "./gce.ts";
import { incusEntries, incusTar } from "./incus.ts";
import { ovaTar } from "./ova.ts";
import { xvaTar } from "./xva.ts";

/** The first entry distinguishes an image from a client's files. */
const images: readonly (readonly [RegExp, OpenTar])[] = [
  [/^[^/]+\.ovf$/i, ovaTar],
  [/^ova\.xml$/, xvaTar],
  [/^[^/]+\.raw$/, gceTar],
  [incusEntries, incusTar],
];

/** Real files do not compress by a factor of 1,000; empty disks do. */
const mostRatio = 1000;
const alwaysAllowed = 2 ** 20;

export const tarContent: OpenContent = (findings, options, source) => {
  findings.type = "tar";
  let open: OpenTar | undefined;
  let contents: TarContents | undefined;
  let passed = 0;
  const most = alwaysAllowed + mostRatio * source.size;

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
