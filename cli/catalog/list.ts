import {
  type ListedCatalog,
  type ListedRecord,
  listRecords,
  loadCatalog,
  readCutRelease,
} from "../../pipeline/index.ts";
import { throwErrors } from "../../shared/errors.ts";
import { table } from "../terminal/cells.ts";
import { answer, type Host, say } from "../terminal/host.ts";
import { UsageError } from "../terminal/usage.ts";
import { count } from "../terminal/words.ts";

export async function list(
  terms: readonly string[],
  { all = false }: { all?: boolean },
  host: Host,
): Promise<void> {
  const bare = terms.find((term) => !term.includes("="));
  if (bare !== undefined) {
    throw new UsageError(
      `${JSON.stringify(bare)} is not a filter, expected field=value`,
      "For example: package_type=deb",
    );
  }
  const catalog = await catalogFor(terms, host);
  const records = listRecords(catalog, terms, all);
  answer<"list">(host, documentOf(records), () =>
    records.length === 0 ? "No record matches." : table([heading, ...records.map(row)]),
  );
  if (host.json || records.length === 0) return;
  const withdrawn = records.filter(({ state }) => state === "withdrawn").length;
  say(host, `${count(records.length, "record")}${withdrawn > 0 ? `, ${withdrawn} of them withdrawn` : ""}.`);
}

/** Reads only one release if the terms select one, because that is faster. */
async function catalogFor(terms: readonly string[], { releases }: Host): Promise<ListedCatalog> {
  const [, version] = terms.map((term) => /^version=(\d.*)$/.exec(term)).find((match) => match) ?? [];
  const alone = version === undefined ? undefined : await readCutRelease(releases, version);
  if (alone) return alone;
  const catalog = await loadCatalog(releases);
  throwErrors(catalog.problems);
  return catalog;
}

const documentOf = (records: readonly ListedRecord[]) => ({
  records: records.map(({ record }) => record),
  details: records.map(({ record, arch, state, file, url, withdrawal }) => ({
    id: Number(record.id),
    arch,
    state,
    file,
    url,
    withdrawal,
  })),
});

const heading = ["ID", "VERSION", "TYPE", "STATE", "ARCH", "OS", "FILE", "URL"];

const row = ({ record, arch, file, url, state }: ListedRecord): string[] => [
  ...[record.id, record.version, record.package_type].map(String),
  state,
  arch ?? "–",
  `${record.min_os_version ?? ""}–${record.max_os_version ?? ""}`.replace(/^–$/, "any"),
  file,
  url,
];
