import { matchesGlob } from "node:path";
import { failure, throwErrors } from "../../shared/errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Entry } from "../ledger/ledger-records.ts";
import { unknownRecord } from "../ledger/retract.ts";
import { display } from "../project/display.ts";

/** Records to withdraw: by id, or the matching ones of a version. */
export type RecordChoice =
  | { ids: readonly number[] }
  | { version: string; packageType?: string | undefined; name?: string | undefined };

export interface ChosenRecords {
  /** Ascending by id. */
  entries: Entry[];
  /** Number of matching records that are already retracted, and therefore skipped. */
  alreadyRetracted: number;
}

/** Ids may be of retracted records. @throws RelcatError version-unknown, record-unknown, nothing-to-retract */
export function selectRecords(ledger: Ledger, choice: RecordChoice): ChosenRecords {
  if ("ids" in choice) return { entries: knownEntries(ledger, choice.ids), alreadyRetracted: 0 };
  const { version, packageType, name } = choice;
  if (!ledger.versions.has(version)) {
    const newest = [...ledger.versions].sort().slice(-5).join(", ");
    const cut = newest === "" ? "Nothing is cut yet." : `The newest that are cut: ${newest}.`;
    const hint = `${cut} From a release that is not cut, remove the manifests instead.`;
    throw failure("version-unknown", `the ledger has no line of ${version}`, hint);
  }
  const matching = ledger
    .ofVersion(version)
    .filter(
      ({ add }) =>
        (packageType === undefined || add.package_type === packageType) &&
        (name === undefined || matchesGlob(add.name, name)),
    );
  const entries = matching.filter((entry) => !entry.retraction).sort(byId);
  if (entries.length > 0) return { entries, alreadyRetracted: matching.length - entries.length };
  if (matching.length === 0) throw nothingMatches(ledger, choice);
  const message = `every record of ${version} that matches is withdrawn already`;
  throw failure("nothing-to-retract", message, "Name ids to correct their reason.");
}

const byId = (a: Entry, b: Entry) => a.add.id - b.add.id;

function knownEntries({ byId: known }: Ledger, ids: readonly number[]): Entry[] {
  const sorted = [...ids].sort((a, b) => a - b);
  throwErrors(sorted.filter((id) => !known.has(id)).map(unknownRecord));
  return sorted.flatMap((id) => known.get(id) ?? []);
}

function nothingMatches(
  ledger: Ledger,
  { version, packageType, name }: Exclude<RecordChoice, { ids: readonly number[] }>,
) {
  const wanted = [
    ...(packageType === undefined ? [] : [`the package type ${display(packageType)}`]),
    ...(name === undefined ? [] : [`a name that matches ${display(name)}`]),
  ];
  const types = new Set(ledger.ofVersion(version).map(({ add }) => add.package_type));
  const message = `no record of ${version} has ${wanted.join(" and ")}`;
  return failure("nothing-to-retract", message, `Its package types are ${[...types].sort().join(", ")}.`);
}
