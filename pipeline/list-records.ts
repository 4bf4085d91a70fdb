import type { Catalog } from "./build.ts";
import { type ListQuery, readListQuery } from "./selection/query.ts";
import { indexRecords, type Row } from "./selection/record-index.ts";
import { select } from "./selection/select.ts";
import { publishRelease } from "./stages/publish-records.ts";

/** A public record, and what its release document says of its file. */
export interface ListedRecord {
  record: Row;
  file: string;
  url: string;
}

/**
 * The records that the catalog's address would answer a query with, in its order, without a server.
 * @param terms as in a query string: `package_type=deb`, `version=latest`, `ordering=-id`
 * @returns also the query as it was understood, with the names that are no parameters
 */
export function listRecords(
  { identified, ledger, config }: Catalog,
  terms: readonly string[],
): { records: ListedRecord[]; query: ListQuery } {
  const packages = identified.releases
    .map((release) => publishRelease(release, ledger, config).packages)
    .reverse()
    .flat();
  const rows = packages.map(({ json }): Row => JSON.parse(json));
  const query = readListQuery(new URLSearchParams(terms.map(asParameter)));
  const positions = select(indexRecords(rows), query);
  const records = positions.flatMap((position) => {
    const [record, entry] = [rows[position], packages[position]];
    return record && entry ? [{ record, file: entry.file, url: entry.url }] : [];
  });
  return { records, query };
}

function asParameter(term: string): [string, string] {
  const [name = "", ...value] = term.split("=");
  return [name, value.join("=")];
}
