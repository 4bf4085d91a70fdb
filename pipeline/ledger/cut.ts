import { type Problem, throwErrors } from "../../shared/errors.ts";
import type { AddEvent, LedgerEvent, ReviseEvent } from "../documents/ledger.ts";
import { versionUnknown } from "../project/known-versions.ts";
import { dated } from "./assign-ids.ts";
import type { Catalog } from "./catalog.ts";
import { completenessCheck } from "./completeness.ts";
import { append, type LedgerChange } from "./ledger.ts";

export interface CutOptions {
  /** Versions from the command line; undefined: every release. */
  versions?: readonly string[] | undefined;
  allowIncomplete?: boolean;
  /** Maximum number of revisions; default 50. */
  allowRevise?: number;
}

/** Additions and revisions with their date. */
export interface Cut extends LedgerChange {
  events: readonly (AddEvent | ReviseEvent)[];
  at: string;
}

/** @param catalog loaded with the same versions selected @param at date of all lines, from eventTime() */
export function decideCut({ identified, ledger }: Catalog, at: string): Cut {
  const events = identified.pending.map((event) => dated(event, at));
  return { ...append(ledger, events), events, at };
}

/** @throws RelcatError version-unknown for each version without a folder */
export function refuseUnknownVersions(
  catalog: { folder: string; releases: readonly { version: string }[] },
  versions: readonly string[] = [],
): void {
  const unknown = versions.filter(
    (version) => !catalog.releases.some((release) => release.version === version),
  );
  throwErrors(unknown.map((version) => versionUnknown(version, catalog.folder)));
}

/** @throws RelcatError with every problem: version-unknown, checks, completeness, revise-limit */
export function refuseCut(catalog: Catalog, { events }: Cut, options: CutOptions = {}): void {
  const { identified, config, ledger } = catalog;
  const named = options.versions && new Set(options.versions);
  refuseUnknownVersions(catalog, options.versions);
  throwErrors(catalog.problems);

  const due = new Set(events.flatMap((event) => (event.event === "add" ? [event.version] : [])));
  // A named release without new lines must be checked too, because everything may be missing from it.
  for (const version of named ?? []) if (!ledger.versions.has(version)) due.add(version);
  const completeness = completenessCheck(config);
  const severity = options.allowIncomplete ? "warning" : "error";
  const incomplete = identified.releases.flatMap((identified) =>
    completeness(identified, due.has(identified.release.version) ? severity : undefined),
  );
  throwErrors([...incomplete, ...tooManyRevisions(events, options.allowRevise ?? 50)]);
}

function tooManyRevisions(events: readonly LedgerEvent[], limit: number): Problem[] {
  const count = events.filter((event) => event.event === "revise").length;
  if (count <= limit) return [];
  const message = `${count} published records would change, expected at most ${limit}`;
  const hint = `A changed default or wire name in catalog.yaml does this; if it is meant, run with --allow-revise ${count}.`;
  return [{ code: "revise-limit", severity: "error", message, hint }];
}
