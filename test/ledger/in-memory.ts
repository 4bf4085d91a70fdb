import fc from "fast-check";
import type { WrittenArtifact } from "../../pipeline/documents/manifest.ts";
import { type Catalog, decideCut } from "../../pipeline/index.ts";
import { assignIds } from "../../pipeline/ledger/assign-ids.ts";
import { readLedger } from "../../pipeline/ledger/ledger.ts";
import { openProject } from "../../pipeline/ledger/open-project.ts";
import { filesOf } from "../../pipeline/project/authored-files.ts";
import type { Located } from "../../pipeline/project/document.ts";
import { normalizeRelease, type Release } from "../../pipeline/records/normalize.ts";

const located = <T>(value: T, file = "file"): Located<T> => ({
  file,
  value,
  place: () => ({ file, line: 1, column: 1 }),
});

const files = filesOf(new Map([["catalog.yaml", new TextEncoder().encode("require: {}\n")]]));

export const { config } = await openProject("releases", files);

/** A release of these manifests, without files. */
export function releaseOf(version: string, manifests: readonly (readonly WrittenArtifact[])[]) {
  return normalizeRelease(
    {
      version,
      folder: version,
      release: located({ version, date: `20${version.slice(0, 2)}-${version.slice(3, 5)}-15` }),
      notes: [],
      manifests: manifests.map((artifacts, index) =>
        located({ release: version, artifacts: [...artifacts] }, `${index}`),
      ),
      problems: [],
    },
    config,
  );
}

/** Catalog of these releases and this ledger; `versions` get ids, by default all. */
export function catalogOf(
  releases: readonly Release[],
  ledgerText: string,
  versions?: readonly string[],
): Catalog {
  const { ledger, problems } = readLedger({ file: "ledger.jsonl", text: ledgerText });
  const ordered = [...releases].sort((a, b) => (a.version < b.version ? -1 : 1));
  const identified = assignIds(ordered, ledger, (version) => versions?.includes(version) ?? true);
  return {
    folder: "releases",
    config,
    configPlace: located({}).place,
    ledger,
    releases: ordered,
    identified,
    openVersions: [],
    nextNotes: 0,
    problems: [...problems, ...identified.problems],
  };
}

/** The ledger after a cut at midnight of a day in 2026. */
export function cutInMemory(
  releases: readonly Release[],
  ledgerText: string,
  day: number,
  versions?: readonly string[],
) {
  const at = `${new Date(Date.UTC(2026, 0, day)).toISOString().slice(0, 10)}T00:00:00.000000Z`;
  return decideCut(catalogOf(releases, ledgerText, versions), at);
}

const types = ["rpm", "xz", "msi", "pkg", "qcow", "helm", "deb"] as const;

/** An artifact; its file name comes from a small pool, so that several claim the same one. */
export const artifact: fc.Arbitrary<WrittenArtifact> = fc.record(
  {
    name: fc.constantFrom("a", "b", "B", "c", "é", "tool"),
    package_type: fc.constantFrom(...types),
    sha256: fc.constantFrom("1", "2").map((digit) => digit.repeat(64)),
    file: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"),
    description: fc.constantFrom("One", "Two"),
    size: fc.constantFrom(1, 2),
    min_os_version: fc.constantFrom(null, "20.04", "22.04"),
    max_os_version: fc.constantFrom(null, "20.04"),
    gui_only: fc.boolean(),
  },
  { requiredKeys: ["name", "package_type", "sha256", "file"] },
);

/** One artifact for each of some files: claims that never contradict each other. */
export const artifacts = fc.uniqueArray(artifact, { selector: ({ file }) => file, maxLength: 7 });

export const versions = ["25.12.001", "26.08.001", "26.08.002", "26.08.010", "26.10.001"];
