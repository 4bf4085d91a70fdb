import { exitStatus, type ListedRecord, listRecords, loadCatalog, RelcatError } from "../pipeline/index.ts";
import { table } from "./cells.ts";
import { answer, type Host, releasesFolder, say } from "./host.ts";
import { UsageError } from "./usage.ts";
import { count, listed } from "./words.ts";

/** `relcat list`: the records that match, as the catalog would answer. */
export async function list(terms: readonly string[], host: Host): Promise<number> {
  const bare = terms.find((term) => !term.includes("="));
  if (bare !== undefined) {
    throw new UsageError(
      `${JSON.stringify(bare)} is no filter, expected field=value`,
      "Such as package_type=deb",
    );
  }
  const catalog = await loadCatalog(releasesFolder);
  if (catalog.problems.some(({ severity }) => severity === "error")) throw new RelcatError(catalog.problems);
  const { records, query } = listRecords(catalog, terms);
  if (query.unknown.length > 0) {
    throw new UsageError(
      `${listed(query.unknown)} ${query.unknown.length === 1 ? "is no field" : "are no fields"} of a record`,
      "relcat schema package-record names them; data cannot be filtered by.",
    );
  }
  answer(host, { records: records.map(({ record }) => record) }, () =>
    records.length === 0 ? "No record matches." : table(records.map(row)),
  );
  if (!host.json && records.length > 0) say(host, `${count(records.length, "record")}.`);
  return exitStatus.done;
}

const row = ({ record, file, url }: ListedRecord): string[] => [
  ...[record.id, record.version, record.package_type].map(String),
  `${record.min_os_version ?? ""}–${record.max_os_version ?? ""}`.replace(/^–$/, "any"),
  file,
  url,
];
