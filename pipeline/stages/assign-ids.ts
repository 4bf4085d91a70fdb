import type { AddEvent, ReviseEvent } from "../documents/ledger.ts";
import type { Problem } from "../errors.ts";
import { display } from "./document.ts";
import { type Entry, identity, type Ledger, type Retraction } from "./ledger.ts";
import { type Artifact, isPrivate, type Release } from "./normalize.ts";

/** An artifact with its id and dates, permanent or provisional. */
export interface Package {
  id: number;
  created: string;
  modified: string;
  artifact: Artifact;
  /** cut: as in the ledger; new: no line yet; revised: its content differs from its last line. */
  standing: "cut" | "new" | "revised";
  retraction: Retraction | null;
}

/** An event that is due, still without its date. */
export type PendingAdd = Omit<AddEvent, "at">;
export type PendingRevise = Omit<ReviseEvent, "at">;

export interface IdentifiedRelease {
  release: Release;
  /** Ascending by id. */
  packages: Package[];
}

export interface Identified {
  releases: IdentifiedRelease[];
  /** What `cut` would append for these releases, in order. */
  pending: (PendingAdd | PendingRevise)[];
  /** Artifacts without a line in releases that get no new ids here. */
  leftOut: Artifact[];
  /** Records of such releases whose content differs from their last line. */
  notCut: Problem[];
  problems: Problem[];
}

/** Whether artifacts of a version may get ids and revisions now; false: only what the ledger has counts. */
export type Allocate = (version: string) => boolean;

/**
 * Gives every artifact its id and dates: those of the ledger where it has a line, else the ids `cut` would
 * give and midnight of the release date. Published bytes and types never change (bytes-changed), public
 * records never become private, and no line is without its artifact (record-vanished).
 * @param releases all releases of the catalog, ascending by version
 */
export function assignIds(releases: readonly Release[], ledger: Ledger, allocate: Allocate): Identified {
  const additions: PendingAdd[] = [];
  const revisions: PendingRevise[] = [];
  const result: Identified = { releases: [], pending: [], leftOut: [], notCut: [], problems: [] };
  const found = new Set<number>();
  for (const release of releases) {
    const packages: Package[] = [];
    for (const artifact of release.artifacts) {
      const entry = ledger.byIdentity.get(identity(release.version, artifact.file));
      if (entry) {
        found.add(entry.add.id);
        packages.push(knownPackage(artifact, entry, release.version, allocate, revisions, result));
      } else if (allocate(release.version)) {
        const id = ledger.nextId + additions.length;
        additions.push(additionOf(artifact, id));
        packages.push(newPackage(artifact, id, release.date));
      } else result.leftOut.push(artifact);
    }
    result.releases.push({ release, packages: packages.sort((a, b) => a.id - b.id) });
  }
  result.problems.push(...vanished(ledger, found));
  revisions.sort((a, b) => a.id - b.id);
  result.pending = [...additions, ...revisions];
  return result;
}

function newPackage(artifact: Artifact, id: number, date: string): Package {
  const midnight = `${date}T00:00:00.000000Z`;
  return { id, created: midnight, modified: midnight, artifact, standing: "new", retraction: null };
}

function knownPackage(
  artifact: Artifact,
  entry: Entry,
  version: string,
  allocate: Allocate,
  revisions: PendingRevise[],
  result: Identified,
): Package {
  result.problems.push(...fixedFieldsChanged(artifact, entry), ...becamePrivate(artifact, entry));
  const { add, created, modified, retraction } = entry;
  const revision = revisionOf(artifact, entry);
  if (revision && allocate(version)) revisions.push(revision);
  else if (revision) result.notCut.push(notCut(artifact, entry));
  return { id: add.id, created, modified, artifact, standing: revision ? "revised" : "cut", retraction };
}

function notCut(artifact: Artifact, entry: Entry): Problem {
  const { id, version } = entry.add;
  const message = `${display(artifact.file)} (id ${id}) was changed since it was cut`;
  const hint = `Make the change permanent (relcat cut ${version}), or revert it.`;
  return { code: "content-not-cut", severity: "error", message, hint, at: artifact.place() };
}

function additionOf({ content, contentHash, file }: Artifact, id: number): PendingAdd {
  const { version, package_type, name, min_os_version, max_os_version, checksum } = content;
  return {
    event: "add",
    id,
    version,
    package_type,
    name,
    file,
    min_os_version,
    max_os_version,
    checksum,
    content: contentHash,
    ...(isPrivate(content) && { private: true as const }),
  };
}

/** A retracted record is frozen: its metadata matters to nobody until it is reinstated. */
function revisionOf(artifact: Artifact, entry: Entry): PendingRevise | undefined {
  if (artifact.contentHash === entry.content || entry.retraction) return undefined;
  const hidden = isPrivate(artifact.content) && { private: true as const };
  return { event: "revise", id: entry.add.id, content: artifact.contentHash, ...hidden };
}

function fixedFieldsChanged(artifact: Artifact, entry: Entry): Problem[] {
  const { add } = entry;
  const { checksum, package_type } = artifact.content;
  const changes = [
    ...(checksum === add.checksum ? [] : [`checksum ${add.checksum} → ${checksum}`]),
    ...(package_type === add.package_type ? [] : [`package_type ${add.package_type} → ${package_type}`]),
  ];
  if (changes.length === 0) return [];
  const month = add.version.slice(0, 5);
  const message = `${display(add.file)} is published as id ${add.id} and cannot change: ${changes.join(", ")}`;
  const hint =
    `Publish the new bytes under the next version (relcat new ${month}); or withdraw the old ones (relcat retract ${add.id}); ` +
    `or, while nobody has them, take the cut back (relcat uncut ${add.version}).`;
  return [{ code: "bytes-changed", severity: "error", message, hint, at: artifact.place() }];
}

/** People may have installed it: hiding it would leave them without news. */
function becamePrivate(artifact: Artifact, entry: Entry): Problem[] {
  if (entry.private || entry.retraction || !isPrivate(artifact.content)) return [];
  const message = `${display(artifact.file)} is public as id ${entry.add.id} and cannot become private`;
  const hint = `Withdraw it where everybody sees it: relcat retract ${entry.add.id} --reason …`;
  return [{ code: "record-private", severity: "error", message, hint, at: artifact.place() }];
}

function vanished(ledger: Ledger, found: ReadonlySet<number>): Problem[] {
  const problems: Problem[] = [];
  for (const entry of ledger.byId.values()) {
    if (found.has(entry.add.id)) continue;
    const { id, version, file } = entry.add;
    const message = `the ledger has ${display(file)} of ${version} as id ${id}, but no manifest names it`;
    const hint = `Restore its manifest in ${version}/manifests/; to withdraw it keep the manifest and run relcat retract ${id}.`;
    const excerpt = ledger.text.split("\n", entry.line)[entry.line - 1] ?? "";
    problems.push({ code: "record-vanished", severity: "error", message, hint, at: { file: ledger.file, line: entry.line, column: 1, excerpt } });
  }
  return problems;
}
