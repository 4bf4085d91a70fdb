import type { Catalog } from "../build.ts";
import { line } from "../documents/fields.ts";
import type {
  AddEvent,
  LedgerEvent,
  ReinstateEvent,
  RetractEvent,
  ReviseEvent,
} from "../documents/ledger.ts";
import { failure, type Problem, throwErrors } from "../errors.ts";
import { display } from "../project/document.ts";
import { completenessCheck } from "./completeness.ts";
import { type Ledger, ledgerLine, readLedger } from "./ledger.ts";

/** Lines to append to the ledger, and the ledger they belong after. */
export interface LedgerChange {
  events: readonly LedgerEvent[];
  /** The whole text before and after; deliver writes `after` only where `before` still stands. */
  before: string;
  after: string;
}

export interface CutOptions {
  /** The versions named on the command line; undefined: every release. */
  versions?: readonly string[] | undefined;
  allowIncomplete?: boolean;
  /** How many revisions may happen at once; default 50. */
  allowRevise?: number;
}

/** What a cut does: additions and revisions with their date. */
export interface Cut extends LedgerChange {
  events: readonly (AddEvent | ReviseEvent)[];
  at: string;
}

/**
 * Decides the ledger lines that make releases permanent. Writes nothing.
 * @param catalog loaded with the same versions selected
 * @param at date of all lines, from eventTime()
 */
export function decideCut({ identified, ledger }: Catalog, at: string): Cut {
  const events = identified.pending.map((event) => dated(event, at));
  return { ...append(ledger, events), events, at };
}

/** @throws RelcatError version-unknown for each version that has no folder */
export function refuseUnknown(catalog: Catalog, versions: readonly string[] = []): void {
  const unknown = versions.filter(
    (version) => !catalog.releases.some((release) => release.version === version),
  );
  throwErrors(unknown.map((version) => versionUnknown(version, catalog.folder)));
}

/**
 * Refuses lines that must not be written.
 * @throws RelcatError with every problem: version-unknown, checks, completeness, revise-limit
 */
export function refuseCut(catalog: Catalog, { events }: Cut, options: CutOptions = {}): void {
  const { identified, config, ledger } = catalog;
  const named = options.versions && new Set(options.versions);
  refuseUnknown(catalog, options.versions);
  throwErrors(catalog.problems);

  const due = new Set(events.flatMap((event) => (event.event === "add" ? [event.version] : [])));
  // A release that is named and has nothing to cut lacks everything.
  for (const version of named ?? []) if (!ledger.versions.has(version)) due.add(version);
  const completeness = completenessCheck(config);
  const severity = options.allowIncomplete ? "warning" : "error";
  const incomplete = identified.releases.flatMap((identified) =>
    completeness.next(identified, due.has(identified.release.version) ? severity : undefined),
  );
  throwErrors([...incomplete, ...tooManyRevisions(events, options.allowRevise ?? 50)]);
}

/** Key order is the order of the ledger's bytes: `at` before the optional marks. */
function dated(event: Catalog["identified"]["pending"][number], at: string): AddEvent | ReviseEvent {
  const { private: hidden, imported: _, ...rest } = event;
  return { ...rest, at, ...(hidden && { private: hidden }) } as AddEvent | ReviseEvent;
}

function append(ledger: Ledger, events: readonly LedgerEvent[]): LedgerChange {
  return { events, before: ledger.text, after: ledger.text + events.map(ledgerLine).join("") };
}

function tooManyRevisions(events: readonly LedgerEvent[], limit: number): Problem[] {
  const count = events.filter((event) => event.event === "revise").length;
  if (count <= limit) return [];
  const message = `${count} published records would change at once, expected at most ${limit}`;
  const hint = `A changed default or wire name in catalog.yaml does this; if it is meant, run with --allow-revise ${count}.`;
  return [{ code: "revise-limit", severity: "error", message, hint }];
}

export function versionUnknown(version: string, folder: string): Problem {
  const message = `there is no release ${version}`;
  return {
    code: "version-unknown",
    severity: "error",
    message,
    hint: `Look into ${folder}/ for the versions there are.`,
  };
}

export interface RetractOptions {
  ids: readonly number[];
  reason: string;
  replacedBy?: number | null | undefined;
}

/**
 * Decides the lines that withdraw records. Retracting again may change the reason and the replacement.
 * @throws RelcatError nothing-to-retract, replacement-unknown, text-format for the reason
 */
export function decideRetract(
  ledger: Ledger,
  { ids, reason, replacedBy }: RetractOptions,
  at: string,
): LedgerChange {
  const problems = [...reasonProblems(reason), ...replacementProblems(ledger, replacedBy, ids)];
  const events: RetractEvent[] = [];
  for (const id of [...new Set(ids)].sort((a, b) => a - b)) {
    const entry = ledger.byId.get(id);
    if (!entry) {
      problems.push(noSuchId(id));
      continue;
    }
    const { retraction } = entry;
    const replaced_by = replacedBy === undefined ? (retraction?.replaced_by ?? null) : replacedBy;
    const unchanged = retraction?.reason === reason && retraction.replaced_by === replaced_by;
    if (!unchanged) events.push({ event: "retract", id, reason, replaced_by, at });
  }
  throwErrors(problems);
  return append(ledger, events);
}

function reasonProblems(reason: string): Problem[] {
  if (line.safeParse(reason).success) return [];
  const message = `the reason is ${display(reason)}, expected one line of text`;
  return [
    { code: "text-format", severity: "error", message, hint: "Say in one sentence what is wrong with it." },
  ];
}

/**
 * People who are sent to a replacement must be able to see and install it. One that stands already may have
 * been withdrawn since: its own page says so.
 */
function replacementProblems(
  ledger: Ledger,
  replacement: number | null | undefined,
  withdrawn: readonly number[],
): Problem[] {
  if (replacement === null || replacement === undefined) return [];
  const entry = ledger.byId.get(replacement);
  const fault = withdrawn.includes(replacement)
    ? "it is withdrawn by the same command"
    : !entry
      ? "there is no such id"
      : entry.retraction
        ? "it is retracted itself"
        : entry.private
          ? "it is not public"
          : undefined;
  if (!fault) return [];
  const message = `the id ${replacement} cannot be the replacement: ${fault}`;
  const hint = "Name another public record, or leave --replaced-by for later.";
  return [{ code: "replacement-unknown", severity: "error", message, hint }];
}

/**
 * Decides the lines that undo retractions.
 * @throws RelcatError nothing-to-retract for ids that are unknown or not retracted
 */
export function decideReinstate(ledger: Ledger, ids: readonly number[], at: string): LedgerChange {
  const problems: Problem[] = [];
  const events: ReinstateEvent[] = [];
  for (const id of [...new Set(ids)].sort((a, b) => a - b)) {
    const entry = ledger.byId.get(id);
    if (!entry) problems.push(noSuchId(id));
    else if (entry.retraction) events.push({ event: "reinstate", id, at });
    else {
      const message = `the id ${id} is not retracted`;
      problems.push({
        code: "nothing-to-reinstate",
        severity: "error",
        message,
        hint: "There is nothing to undo: relcat list --all shows which records are withdrawn.",
      });
    }
  }
  throwErrors(problems);
  return append(ledger, events);
}

const noSuchId = (id: number): Problem => ({
  code: "nothing-to-retract",
  severity: "error",
  message: `no record has the id ${id}`,
  hint: "ledger.jsonl names the ids there are; an id is permanent only after relcat cut.",
});

/**
 * Decides a ledger without the lines of a version, which must be its last and not settled.
 * @param settled text of the ledger at the settled revision; its lines stay
 * @throws RelcatError version-unknown, version-settled, version-not-last
 */
export function decideUncut(
  ledger: Ledger,
  version: string,
  settled: string,
  revision: string,
): LedgerChange {
  const entries = ledger.ofVersion(version);
  if (entries.length === 0) {
    throw failure(
      "version-unknown",
      `the ledger has no line of ${version}`,
      "It is not cut; there is nothing to take back.",
    );
  }
  const first = Math.min(...entries.map((entry) => entry.line)) - 1;
  const lines = ledger.text.split("\n");
  const known = new Set(settled.split("\n"));
  if (lines.slice(first, -1).some((line) => known.has(line))) {
    throw failure(
      "version-settled",
      `${version} is settled: ${revision} has its lines`,
      `Withdraw single packages instead (relcat retract ${version} --type … --reason …), or publish a new version.`,
    );
  }
  const ids = new Set(entries.map((entry) => entry.add.id));
  const events = ledger.events.slice(first);
  const other = events.find((event) => !("id" in event) || !ids.has(event.id));
  if (other) {
    const what =
      other.event === "add"
        ? other.version
        : `the ${other.event} of id ${"id" in other ? other.id : other.next_id}`;
    throw failure(
      "version-not-last",
      `${version} is not the last in the ledger: ${what} came after it`,
      "Ids are given in order and never reused; take the later lines back first.",
    );
  }
  const after = lines.slice(0, first).map((line) => `${line}\n`);
  return { events, before: ledger.text, after: after.join("") };
}

/** Proves a decided ledger sound before it is written: relcat never writes what it would refuse to read. */
export function throwIfUnsound(change: LedgerChange, file: string): void {
  throwErrors(readLedger({ file, text: change.after }).problems);
}
