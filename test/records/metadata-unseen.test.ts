/** @module-tag long */
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectedFormats, type PackageMetadata } from "../../shared/package-metadata.ts";
import { defaultPackageTypes } from "../../shared/package-types.ts";
import { liveProject, messy } from "../intake/import/importing.ts";
import { type Project, project } from "../support/project.ts";
import { repository } from "../support/run.ts";

/** Records of the 17 fields, and the ledger's content hashes, say nothing about metadata. */

const samples: readonly [string, () => Promise<Project>][] = [
  [
    "the sample",
    async () => {
      const made = project();
      cpSync(join(repository, "releases"), join(made.folder, "releases"), { recursive: true });
      return made;
    },
  ],
  [
    "an import",
    async () => {
      const made = liveProject(messy());
      await made.succeed("import", "live.json", "--accept-violations");
      return made;
    },
  ],
];

test.each(samples)("in %s, metadata changes no byte of a record or of the ledger", async (_, make) => {
  const made = await make();
  await made.succeed("build", "--released");
  const before = published(made);
  expect(fill(made)).toBeGreaterThan(10);
  await made.succeed("build", "--released");
  expect(published(made)).toEqual(before);
  await made.succeed("check");
  const { document } = await made.json("plan", "--ledger-base", "none");
  expect([document.revised, document.forbidden]).toEqual([[], []]);
});

/** Everything below api/v1/package/, by path. */
function published({ folder }: Project): Map<string, string> {
  const root = join(folder, "dist/api/v1/package");
  const paths = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    paths.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      // The newest records of a type are followed by their architectures, which are not among their fields.
      const text = readFileSync(path, "latin1");
      return [path, /\/latest\/[^/]+$/.test(path) ? text.replace(/,"arch":"\w+"\}/g, "}") : text];
    }),
  );
}

const examples: Partial<Record<PackageMetadata["type"], PackageMetadata>> = {
  deb: { type: "deb", arch: "amd64", control: "Package: a\nVersion: 1\nArchitecture: amd64" },
  helm: { type: "helm", chart: { name: "a", version: "1.0.0" } },
  pkg: { type: "pkg", identifier: "a", version: "1" },
  image: { type: "image", format: "qcow2", arch: "arm64" },
  archive: { type: "archive", arch: "s390x" },
};

/** Gives artifacts metadata and documents. @returns how many */
function fill({ folder }: Project): number {
  let count = 0;
  const files = readdirSync(join(folder, "releases"), { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => /manifests\/.*\.json$/.test(name))) {
    const path = join(folder, "releases", file);
    const manifest = JSON.parse(readFileSync(path, "utf8"));
    for (const artifact of manifest.artifacts) {
      const kind = defaultPackageTypes[artifact.package_type]?.kind;
      const [format] = kind ? expectedFormats(artifact.package_type, kind) : [];
      const metadata = format && examples[format];
      if (!metadata) continue;
      artifact.package = metadata;
      const name = `${artifact.file ?? artifact.name}.asc`;
      artifact.documents = [
        { kind: "signature", format: "asc", file: name, sha256: "1".repeat(64), size: 1 },
      ];
      count++;
    }
    writeFileSync(path, JSON.stringify(manifest));
  }
  return count;
}
