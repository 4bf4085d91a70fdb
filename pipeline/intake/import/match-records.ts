import type { Problem } from "../../../shared/errors.ts";
import { isObject } from "../../documents/is-object.ts";
import type { Package } from "../../ledger/assign-ids.ts";
import { type Entry, identity } from "../../ledger/ledger-records.ts";
import { publishedRecord } from "../../ledger/publish-records.ts";
import { display } from "../../project/display.ts";
import { contentHashOf } from "../../records/normalize.ts";
import { typeKey } from "./catalog-rows.ts";
import { ledgerDates, verbatimDates } from "./dates.ts";
import type { Existing } from "./existing.ts";
import { type LiveRecord, recordName } from "./read-records.ts";

export interface Match {
  added: LiveRecord[];
  revised: LiveRecord[];
  /** Unchanged in the ledger, but without a manifest entry. */
  restored: LiveRecord[];
  unchanged: LiveRecord[];
  /** Changed or withdrawn here since their import; the local version is kept. */
  kept: LiveRecord[];
  /** Imported earlier, now missing from the live catalog, and not withdrawn here. */
  gone: Entry[];
  problems: Problem[];
}

/** @param records ascending by id */
export function matchRecords(records: readonly LiveRecord[], existing: Existing): Match {
  const match: Match = {
    added: [],
    revised: [],
    restored: [],
    unchanged: [],
    kept: [],
    gone: [],
    problems: [],
  };
  const imported = lastImportedContents(existing);
  for (const record of records) {
    const entry = existing.ledger.byId.get(record.id);
    const verdict = entry ? judge(record, entry, existing, imported) : "added";
    if (typeof verdict === "string") match[verdict].push(record);
    else match.problems.push(verdict);
  }
  const live = new Set(records.map(({ id }) => id));
  const missing = [...existing.ledger.byId.values()].filter(({ add }) => add.imported && !live.has(add.id));
  match.problems = capped(match.problems);
  match.gone = missing
    .filter((entry) => !entry.retraction && !entry.private)
    .sort((a, b) => a.add.id - b.add.id);
  return match;
}

/** Unrelated catalogs would give a problem for every record. */
function capped(problems: Problem[]): Problem[] {
  const more = problems.length - maxConflicts;
  if (more <= 0) return problems;
  const message = `${more} more records of the list cannot be imported here`;
  const hint = "The problems shown name the first of them.";
  return [...problems.slice(0, maxConflicts), { code: "import-conflict", severity: "error", message, hint }];
}

const maxConflicts = 50;

type Verdict = Exclude<keyof Match, "gone" | "problems"> | Problem;

function judge(
  record: LiveRecord,
  entry: Entry,
  existing: Existing,
  imported: ReadonlyMap<number, string>,
): Verdict {
  const { add } = entry;
  const present = existing.packages.get(add.id);
  const differing = present ? differingFields(publishedRecord(present), record) : [];
  if (present && differing.length === 0) return "unchanged";
  if (!add.imported) {
    const what = `the id belongs to ${display(add.file)} of ${add.version} here (line ${entry.line} of the ledger)`;
    const hint =
      "This catalog was not imported from that one, and their ids collide: import into an empty releases folder.";
    return conflict(record, what, hint);
  }
  if (entry.retraction) return "kept";
  const changedThere = !present || contentHashOf(record) !== imported.get(add.id);
  if (!entry.imported || present?.ledgerState === "revised") {
    if (!changedThere) return "kept";
    const what = `it was changed here and in the live catalog (${differing.join(", ")})`;
    const hint = `Bring the live catalog's change into ${add.version}/manifests/ by hand, then take the record out of the list.`;
    return conflict(record, what, hint);
  }
  const fixed = changedForever(record, entry, present);
  if (fixed) return fixed;
  if (!present)
    return contentHashOf(record) === entry.content && ledgerDates(record).modified === entry.modified
      ? "restored"
      : "revised";
  if (existing.entries.has(identity(add.version, add.file))) return "revised";
  const { file, line } = present.artifact.place();
  const what = `it changed in the live catalog, but its entry was moved to ${file}:${line}`;
  return conflict(record, what, "Change it there by hand, then take the record out of the list.");
}

/** Content of each record at its last import. */
function lastImportedContents({ ledger }: Existing): Map<number, string> {
  const contents = new Map<number, string>();
  for (const event of ledger.events) {
    if ((event.event === "add" || event.event === "revise") && event.imported)
      contents.set(event.id, event.content);
  }
  return contents;
}

/** The identity of an id and its creation date never change. */
function changedForever(
  record: LiveRecord,
  { add, modified: known }: Entry,
  present: Package | undefined,
): Problem | undefined {
  const before = present ? publishedRecord(present) : undefined;
  const fixed: Record<string, readonly [unknown, unknown]> = {
    version: [add.version, record.version],
    package_type: [add.package_type, typeKey(record.package_type)],
    checksum: [before?.checksum ?? record.checksum, record.checksum],
    created_date: [before?.created_date, before ? record.created_date : undefined],
  };
  const changes = Object.entries(fixed).filter(([, [was, is]]) => was !== is);
  if (changes.length > 0) {
    const what = changes.map(([field, [was, is]]) => `${field} was ${display(was)} and is ${display(is)}`);
    const hint = `The ledger never changes the meaning of an id. Withdraw it here (relcat retract ${add.id} --reason …) and take it out of the list; new bytes need a new id.`;
    return { ...conflict(record, what.join(", "), hint), code: "bytes-changed" };
  }
  const { modified } = ledgerDates(record);
  if (modified >= known || verbatimDates(record).includes("modified_date")) return undefined;
  const what = `modified_date went back from ${known} to ${modified}`;
  const hint = "The list is older than what was imported before: import the newest one.";
  return conflict(record, what, hint);
}

const conflict = (record: LiveRecord, what: string, hint: string): Problem => ({
  code: "import-conflict",
  severity: "error",
  message: `${recordName(record)}: ${what}`,
  hint,
});

/** Compares JSON values, ignoring the order of keys. */
function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

/** Names of differing fields, in the order of the first record. */
export function differingFields(
  a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>,
): string[] {
  const fields = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...fields].filter(
    (field) => Object.hasOwn(a, field) !== Object.hasOwn(b, field) || !sameJson(a[field], b[field]),
  );
}
