import type { Place, Problem } from "../../shared/errors.ts";
import { lineOf } from "../../shared/version.ts";
import type { AddEvent, ReviseEvent } from "../documents/ledger.ts";
import { display } from "../project/display.ts";
import {
  type Artifact,
  type ArtifactOutline,
  isPrivate,
  type OutlinedRelease,
  type Release,
} from "../records/normalize.ts";
import { type DateField, dateFields } from "../records/verbatim.ts";
import type { Ledger } from "./ledger.ts";
import { type Entry, identity, type Retraction } from "./ledger-records.ts";

/** An artifact with its id and dates, permanent or provisional. */
export interface Package<A extends ArtifactOutline = Artifact> {
  id: number;
  created: string;
  modified: string;
  artifact: A;
  /** Imported dates that no later event changed. */
  importedDates: readonly DateField[];
  /** cut: as in the ledger; new: no line yet; revised: differs from its last line. */
  ledgerState: "cut" | "new" | "revised";
  retraction: Retraction | null;
}

/** A pending event; `cut` adds its date. */
type PendingAdd = Omit<AddEvent, "at">;
type PendingRevise = Omit<ReviseEvent, "at">;
export type PendingEvent = PendingAdd | PendingRevise;

export interface IdentifiedRelease<R extends OutlinedRelease = Release> {
  release: R;
  /** Ascending by id. */
  packages: Package<R["artifacts"][number]>[];
}

export type IdentifiedOutline = IdentifiedRelease<OutlinedRelease>;

export interface AssignedIds {
  /** Events that `cut` would append for these releases, in order. */
  pending: PendingEvent[];
  /** Artifacts without a ledger line, in releases that get no new ids now. */
  leftOut: ArtifactOutline[];
  /** Problems for records of such releases that differ from their last line. */
  notCut: Problem[];
  problems: Problem[];
}

export interface Identified extends AssignedIds {
  releases: IdentifiedRelease[];
}

/** True if artifacts of the version may get new ids and revisions; false: they keep those in the ledger. */
type Allocate = (version: string) => boolean;

/**
 * Ids and dates: those of the ledger if there is a line, otherwise the id that `cut` would give and midnight of the
 * release date. Published bytes and types never change (bytes-changed), public records never become private
 * (record-private), and every line needs its artifact (record-vanished).
 */
export function idAssignment(ledger: Ledger, allocate: Allocate) {
  const additions: PendingAdd[] = [];
  const revisions: PendingRevise[] = [];
  const result: AssignedIds = { pending: [], leftOut: [], notCut: [], problems: [] };
  const found = new Set<number>();
  const unread = new Set<string>();
  const nextId = () => ledger.nextId + additions.length;
  const known = <A extends ArtifactOutline>(artifact: A, entry: Entry, isAllocated: boolean): Package<A> => {
    const { add, created, modified, retraction } = entry;
    found.add(add.id);
    const faults = [...fixedFieldsChanged(artifact, entry), ...becamePrivate(artifact, entry)];
    result.problems.push(...faults);
    const revision = revisionOf(artifact, entry);
    if (revision && isAllocated) revisions.push(revision);
    else if (revision && faults.length === 0) result.notCut.push(notCut(artifact, entry));
    const ledgerState = revision ? "revised" : "cut";
    return {
      id: add.id,
      created,
      modified,
      artifact,
      importedDates: importedDates(entry),
      ledgerState,
      retraction,
    };
  };
  return {
    /** Id for the next artifact without a ledger line. */
    nextId,
    /** Takes the releases one after another, ascending by version, so that none stays in memory. */
    next<R extends OutlinedRelease>(release: R): IdentifiedRelease<R> {
      const { version, date, complete, artifacts } = release;
      const packages: Package<R["artifacts"][number]>[] = [];
      const dates = { created: `${date}T00:00:00.000000Z`, modified: `${date}T00:00:00.000000Z` };
      if (!complete) unread.add(version);
      const isAllocated = allocate(version);
      for (const artifact of artifacts) {
        const entry = ledger.byIdentity.get(identity(version, artifact.file));
        if (entry) packages.push(known(artifact, entry, isAllocated));
        else if (isAllocated) {
          const id = nextId();
          additions.push(additionOf(artifact, id));
          packages.push({
            id,
            ...dates,
            artifact,
            importedDates: none,
            ledgerState: "new",
            retraction: null,
          });
        } else result.leftOut.push(artifact);
      }
      packages.sort((a, b) => a.id - b.id);
      return { release, packages };
    },
    /** Called once, after the last release. */
    finish(): AssignedIds {
      const problems = [...result.problems, ...vanished(ledger, found, unread)];
      return { ...result, problems, pending: [...additions, ...revisions.sort((a, b) => a.id - b.id)] };
    },
  };
}

/** @param releases all releases of the catalog, ascending by version */
export function assignIds(releases: readonly Release[], ledger: Ledger, allocate: Allocate): Identified {
  const ids = idAssignment(ledger, allocate);
  const identified = releases.map((release) => ids.next(release));
  return { releases: identified, ...ids.finish() };
}

const none: readonly DateField[] = [];

const importedDates = ({ add, imported }: Entry): readonly DateField[] =>
  add.imported || imported
    ? dateFields.filter((field) => (field === "created_date" ? add.imported : imported))
    : none;

function notCut(artifact: ArtifactOutline, entry: Entry): Problem {
  const { id, version } = entry.add;
  const message = `${display(artifact.file)} (id ${id}) was changed since it was cut`;
  const hint = `Make the change permanent (relcat cut ${version}), or revert it.`;
  return { code: "content-not-cut", severity: "error", message, hint, at: artifact.place() };
}

/** Key order determines the ledger's bytes: `at` before the optional members. */
export function dated(event: PendingEvent, at: string): AddEvent | ReviseEvent {
  const { private: hidden, imported, ...rest } = event;
  return { ...rest, at, ...(hidden && { private: hidden }), ...(imported && { imported }) } as
    | AddEvent
    | ReviseEvent;
}

/** The line of a new artifact, without its date. */
export function additionOf({ content, contentHash, file }: ArtifactOutline, id: number): PendingAdd {
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

/** A retracted record is frozen, so its metadata is ignored until it is reinstated. */
function revisionOf(artifact: ArtifactOutline, entry: Entry): PendingRevise | undefined {
  if (artifact.contentHash === entry.content || entry.retraction) return undefined;
  return changeOf(artifact, entry.add.id);
}

/** The line of a changed artifact, without its date. */
export function changeOf({ content, contentHash }: ArtifactOutline, id: number): PendingRevise {
  return { event: "revise", id, content: contentHash, ...(isPrivate(content) && { private: true as const }) };
}

function fixedFieldsChanged(artifact: ArtifactOutline, entry: Entry): Problem[] {
  const { add } = entry;
  const { content } = artifact;
  const changes = (["checksum", "package_type"] as const)
    .filter((key) => content[key] !== add[key])
    .map((key) => `${key} ${add[key]} → ${content[key]}`);
  return changes.length > 0 ? [bytesChanged(add, changes, artifact.place())] : [];
}

type Published = Pick<AddEvent, "id" | "version" | "file">;

/** @param changes such as `checksum a → b` */
export function bytesChanged(
  { id, version, file }: Published,
  changes: readonly string[],
  at?: Place,
): Problem {
  const message = `${display(file)} is published as id ${id} and cannot change: ${changes.join(", ")}`;
  const hint =
    `Restore the manifest and publish the new bytes under the next version (relcat new ${lineOf(version)}), withdrawing the old ` +
    `ones if they are bad (relcat retract ${id} --reason …); or, while no one else has them, take the cut back (relcat uncut ${version}).`;
  return { code: "bytes-changed", severity: "error", message, hint, ...(at && { at }) };
}

/** Users may have installed it, and would no longer get any information about it. */
function becamePrivate(artifact: ArtifactOutline, entry: Entry): Problem[] {
  if (entry.private || entry.retraction || !isPrivate(artifact.content)) return [];
  return [recordPrivate({ id: entry.add.id, file: artifact.file }, artifact.place())];
}

export function recordPrivate({ id, file }: Pick<Published, "id" | "file">, at?: Place): Problem {
  const message = `${display(file)} is public as id ${id} and cannot become private`;
  const hint = `Withdraw it where everyone sees it: relcat retract ${id} --reason …`;
  return { code: "record-private", severity: "error", message, hint, ...(at && { at }) };
}

/** If a manifest was unreadable, reporting its records as missing would be redundant. */
function vanished(ledger: Ledger, found: ReadonlySet<number>, unread: ReadonlySet<string>): Problem[] {
  if (found.size === ledger.byId.size) return [];
  const lost = ledger.byId
    .values()
    .filter(({ add }) => !found.has(add.id) && !unread.has(add.version))
    .toArray();
  if (lost.length === 0) return [];
  const lines = ledger.text().split("\n");
  return lost.map(({ add, line }) => {
    const at = { file: ledger.file, line, column: 1, excerpt: lines[line - 1] ?? "" };
    return recordVanished(add, "the ledger", at);
  });
}

const vanishedHint = ({ id, version }: Published) =>
  `Restore its manifest in ${version}/manifests/: merge the branch that cut it, or restore the file. ` +
  `To withdraw it, keep the manifest and run relcat retract ${id} --reason ….`;

/** @param where location of the record */
export function recordVanished(
  record: Published,
  where: string,
  at?: Place,
  hint = vanishedHint(record),
): Problem {
  const { id, version, file } = record;
  const message = `${where} has ${display(file)} of ${version} as id ${id}, but no manifest names it`;
  return { code: "record-vanished", severity: "error", message, hint, ...(at && { at }) };
}
