import { dirname, join } from "node:path/posix";
import { z } from "zod";
import { line, size } from "../../../../shared/fields.ts";
import { isObject } from "../../../documents/is-object.ts";
import type { FoundFile } from "../evidence.ts";
import { isListOf, loose, shape } from "./shape.ts";

const artifact = loose({
  /** The name of a container image is its address. */
  name: line,
  path: line,
  type: line,
  extra: loose({ Checksum: line.optional(), Size: size.optional(), Format: line.optional() }).optional(),
});

/** Not installable: intermediate files, signatures, and recipes for other catalogs. */
const byproducts = new Set([
  ..."Binary,Library,C Header,C Archive Library,C Shared Library,Checksum,Signature,Certificate".split(","),
  ..."SBOM,Metadata,Source,Docker Image,Published Docker Image,Docker Manifest,Brew Tap,Brew Cask".split(","),
  ..."Homebrew Cask,Homebrew Formula,Krew Plugin Manifest,Scoop Manifest,Winget Manifest,Nixpkg".split(","),
  ..."PKGBUILD,SRCINFO,Source PKGBUILD,Source SRCINFO,PublishableChocolatey".split(","),
]);

const digestOf = (checksum: string | undefined) => /^sha256:([0-9a-f]{64})$/.exec(checksum ?? "")?.[1];

/** dist/artifacts.json. Paths are relative to GoReleaser's working directory, the parent of dist. */
export const goreleaserArtifacts = shape({
  title: "GoReleaser dist/artifacts.json",
  fits: (value) =>
    isListOf(value, (item) => isObject(item) && "name" in item && "path" in item && "type" in item),
  schema: z.array(artifact),
  read({ file, value, place }) {
    const folder = dirname(file);
    const files: FoundFile[] = [];
    const leftOut: string[] = [];
    for (const [index, item] of value.entries()) {
      // A binary that is released as it is has a second entry, with this format.
      if (byproducts.has(item.type) && item.extra?.Format !== "binary")
        leftOut.push(`${item.name} (${item.type})`);
      else
        files.push({
          name: item.name,
          paths: [
            join(folder, item.path.replace(/^[^/]+\//, "")),
            join(dirname(folder), item.path),
            item.path,
          ],
          sha256: digestOf(item.extra?.Checksum),
          size: item.extra?.Size,
          hint: item.extra?.Format,
          at: () => place([index]),
        });
    }
    return { files, leftOut };
  },
});

/** dist/metadata.json: the built revision. Snapshots outside git have none. */
export const goreleaserMetadata = shape({
  title: "GoReleaser dist/metadata.json",
  fits: (value) => isObject(value) && "project_name" in value && "commit" in value,
  schema: loose({ project_name: line, commit: z.string() }),
  read: ({ value: { commit }, place }) =>
    /^[0-9a-f]{40}$/.test(commit) ? { revisions: [{ value: commit, at: () => place(["commit"]) }] } : {},
});
