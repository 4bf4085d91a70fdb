import type { Problem } from "../../shared/errors.ts";
import { lateImageMembers, type PackageMetadata } from "../../shared/package-metadata.ts";
import { type Manifest, manifestSchema, type WrittenArtifact } from "../documents/manifest.ts";
import { readBytes } from "../project/parse.ts";
import type { Artifact } from "../records/artifact.ts";
import { isSame } from "../records/merge.ts";
import { error } from "../records/report.ts";
import { readLedgerBlob } from "../system/git/git-ledger.ts";
import { changedSince, readTree } from "../system/git/git-tree.ts";
import type { Catalog } from "./catalog.ts";
import { readLedger } from "./ledger.ts";
import type { LedgerBase } from "./ledger-base.ts";
import { identity } from "./ledger-records.ts";
import { loadCatalog } from "./load-catalog.ts";

/** A cut artifact whose metadata is not that of the settled revision. */
export interface ChangedMetadata {
  artifact: Artifact;
  members: readonly (keyof Facts)[];
  problem: Problem;
}

/** Metadata of cut artifacts in a settled revision, by identity; only of manifests that changed since. */
interface SettledMetadata {
  revision: string;
  artifacts: ReadonlyMap<string, Facts>;
}

/** Settled metadata that the work tree may have changed; none if git cannot tell. @throws RelcatError git-revision */
export async function settledMetadata(folder: string, { found: { earlier } }: LedgerBase) {
  // The first parent of a settled commit was compared before its branch was merged.
  const compared = earlier.filter(({ revision }) => revision !== "HEAD^");
  const all: SettledMetadata[] = [];
  for (const { revision, blob } of compared) {
    const paths = await changedSince(folder, revision, "*/manifests/**");
    const versions = [...new Set(paths.map((path) => path.split("/", 1).join("")))];
    if (versions.length === 0) continue;
    const { byIdentity } = readLedger({ file: "", text: await readLedgerBlob(folder, blob) }).ledger;
    const found = await settledArtifacts(folder, revision, versions);
    const artifacts = new Map([...found].filter(([name]) => byIdentity.has(name)));
    if (artifacts.size > 0) all.push({ revision, artifacts });
  }
  return all;
}

/** Finds cut artifacts whose settled metadata was changed or removed. Metadata may be added. */
export function changedMetadata(releases: Catalog["releases"], settled: readonly SettledMetadata[]) {
  return settled.flatMap(({ revision, artifacts: before }) =>
    releases.flatMap(({ version, artifacts }) =>
      artifacts.flatMap((artifact) => {
        const facts = before.get(identity(version, artifact.file));
        const members = facts ? changedMembers(facts, artifact) : [];
        return members.length === 0
          ? []
          : [{ artifact, members, problem: changed(artifact, members, revision) }];
      }),
    ),
  );
}

type Facts = Pick<WrittenArtifact, "package" | "documents">;

/** Metadata of the artifacts in a revision's manifests. Manifests that cannot be read settle nothing. */
async function settledArtifacts(folder: string, revision: string, versions: readonly string[]) {
  const folders = versions.map((version) => `${version}/manifests`);
  const { files } = await readTree(folder, revision, folders);
  const found = new Map<string, Facts>();
  for (const [path, bytes] of files) {
    const { document } = readBytes(path, bytes, manifestSchema);
    for (const { file, name, ...facts } of (document?.value as Manifest | undefined)?.artifacts ?? []) {
      const key = identity(path.split("/", 1).join(""), file ?? name);
      const known = found.get(key) ?? facts;
      found.set(key, {
        package: known.package ?? facts.package,
        documents: known.documents ?? facts.documents,
      });
    }
  }
  return found;
}

function changedMembers(before: Facts, { metadata, documents }: Artifact): (keyof Facts)[] {
  const now: Facts = {
    package: metadata && withoutAdditions(metadata, before.package),
    documents: documents && [...documents],
  };
  return (["package", "documents"] as const).filter(
    (member) => before[member] !== undefined && !isSame(before[member], now[member] ?? null),
  );
}

/** An image without the members that its settled metadata lacks and may be given later. */
function withoutAdditions(metadata: PackageMetadata, before: PackageMetadata | undefined): PackageMetadata {
  if (metadata.type !== "image" || before?.type !== "image") return metadata;
  const added: readonly string[] = lateImageMembers.filter((member) => before[member] === undefined);
  const kept = Object.entries(metadata).filter(([member]) => !added.includes(member));
  return Object.fromEntries(kept) as typeof metadata;
}

function changed({ file, content, place }: Artifact, members: readonly string[], revision: string): Problem {
  const subject = `${members.join(" and ")} of ${file}, which is cut in ${content.version}`;
  const message = `${subject}, ${members.length === 1 ? "differs" : "differ"} from ${revision}`;
  const hint = "Prove it with the file's bytes: relcat check --artifacts FOLDER; or restore what was there.";
  return error("metadata-changed", place(), message, hint);
}

/** A branch proves a change of settled metadata in `check --artifacts`; other commands accept it after the merge. */
export async function unmergedMetadata(folder: string, base: LedgerBase): Promise<Problem[]> {
  const settled = await settledMetadata(folder, base);
  if (settled.length === 0) return [];
  const { releases } = await loadCatalog(folder);
  return changedMetadata(releases, settled).map(({ problem }) => ({ ...problem, hint: mergeFirst }));
}

const mergeFirst =
  "Prove it on a branch with relcat check --artifacts FOLDER and merge that first; or restore what was there.";
