import { type Architecture, architectureOf } from "../../shared/package-metadata.ts";
import type { Package } from "../ledger/assign-ids.ts";
import { publicPackages } from "../ledger/publish-records.ts";
import { splitArchitecture } from "../selection/latest-of-architecture.ts";
import { readListQuery } from "../selection/query.ts";
import { indexRecords, matcher, type Row } from "../selection/record-index.ts";
import { select } from "../selection/select.ts";
import { refuseTerms, type Term } from "./list-terms.ts";
import type { ListedCatalog } from "./read-cut-release.ts";

/** cut: permanent; revised: cut, then changed without a cut; provisional: the id may still change. */
type RecordState = "cut" | "revised" | "provisional" | "withdrawn";

/** A public record with facts from its release document and the ledger. */
export interface ListedRecord {
  record: Row;
  file: string;
  url: string;
  /** null: not known. */
  arch: Architecture | null;
  state: RecordState;
  withdrawal: { reason: string; replaced_by: number | null; at: string } | null;
}

/**
 * Records that the catalog's API would return for a query, in the same order, without a server.
 * @param terms as in a query string: `package_type=deb`, `version=latest`, `ordering=-id`
 * @param all include withdrawn records
 * @throws RelcatError usage for terms that cannot match
 */
export function listRecords(
  { identified, config }: ListedCatalog,
  terms: readonly string[],
  all: boolean,
): ListedRecord[] {
  const parameters = terms.map(asParameter);
  const listed = identified.releases
    .map((release) => publicPackages(release, config))
    .reverse()
    .flat()
    .filter(({ entry }) => all || !entry.retraction)
    .map(({ entry, published: { json, file, url, metadata } }): ListedRecord => {
      const { retraction } = entry;
      const withdrawal = retraction && {
        reason: retraction.reason,
        replaced_by: retraction.replaced_by,
        at: retraction.at,
      };
      return {
        record: JSON.parse(json),
        file,
        url,
        arch: architectureOf(metadata) ?? null,
        state: stateOf(entry),
        withdrawal,
      };
    });
  refuseTerms(
    parameters,
    config,
    listed.map(({ record }) => record),
  );
  const { architectures, others } = splitArchitecture(parameters);
  const fitting = listed.filter(({ arch }) => architectures.every((text) => matcher(text)(arch)));
  const rows = fitting.map(({ record }) => record);
  return select(indexRecords(rows), readListQuery(others)).flatMap((position) => fitting[position] ?? []);
}

function stateOf({ standing, retraction }: Package): RecordState {
  if (retraction) return "withdrawn";
  return standing === "new" ? "provisional" : standing;
}

function asParameter(term: string): Term {
  const [name = "", ...value] = term.split("=");
  return [name, value.join("=")];
}
