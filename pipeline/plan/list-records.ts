import { failure } from "../../shared/errors.ts";
import { architecture, architectureNames, architectureOf } from "../../shared/package-metadata.ts";
import { isLine, isVersion } from "../../shared/version.ts";
import type { Config } from "../documents/config.ts";
import type { RecordDetails } from "../documents/outputs/catalog.ts";
import type { IdentifiedRelease } from "../ledger/assign-ids.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { channelsOf } from "../ledger/ledger-channels.ts";
import { openCatalog } from "../ledger/load-catalog.ts";
import { publicPackages } from "../ledger/publish-records.ts";
import { display } from "../project/display.ts";
import { pathsOfRelease } from "../project/parse.ts";
import { nearestName } from "../project/unknown-type.ts";
import { readRelease } from "../records/read-release.ts";
import { offeredVersions } from "../selection/channels.ts";
import { filterFields, isField } from "../selection/fields.ts";
import { splitArchitecture } from "../selection/latest-of-architecture.ts";
import { readListQuery } from "../selection/query.ts";
import { indexRecords, matcher, type Row } from "../selection/record-index.ts";
import { select } from "../selection/select.ts";

/** A public record with facts from its release document and the ledger. */
export interface ListedRecord extends Omit<RecordDetails, "id"> {
  record: Row;
}

/**
 * Records that the catalog's API would return for a query, in the same order, without a server.
 * @param terms as in a query string: `package_type=deb`, `version=latest`, `ordering=-id`
 * @param all include withdrawn records
 * @throws RelcatError usage for terms that cannot match
 */
export function listRecords(
  { identified, config, ledger }: ListedCatalog,
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
      const arch = architectureOf(metadata) ?? null;
      const { ledgerState, retraction: withdrawal } = entry;
      const state = withdrawal ? "withdrawn" : ledgerState === "new" ? "provisional" : ledgerState;
      return { record: JSON.parse(json), file, url, arch, state, withdrawal };
    });
  const records = listed.map(({ record }) => record);
  refuseTerms(parameters, config, records);
  const { architectures, others } = splitArchitecture(parameters);
  const fitting = listed.filter(({ arch }) => architectures.every((text) => matcher(text)(arch)));
  const rows = fitting.map(({ record }) => record);
  const releases = identified.releases.map(({ release: { version } }) => {
    return { version, channels: channelsOf(version, ledger.channels, config.channels) };
  });
  const index = indexRecords(rows, offeredVersions(releases, config.channels[0]));
  return select(index, readListQuery(others)).flatMap((position) => fitting[position] ?? []);
}

function asParameter(term: string): Term {
  const [name = "", ...value] = term.split("=");
  return [name, value.join("=")];
}

type Term = readonly [name: string, value: string];

const own = ["arch", "line", "ordering"];

/**
 * Rejects terms that the API would ignore or answer with an empty list, because a user who types a filter
 * expects a match.
 * @param records imported records may have values that are not configured
 * @throws RelcatError usage
 */
function refuseTerms(terms: readonly Term[], config: Config, records: readonly Row[]): void {
  for (const [name, value] of terms) {
    refuseName(name);
    if (name === "version") refuseVersion(value);
    if (name === "line" && !isLine(value)) throw unfit(name, value, "a month", "For example: line=26.09");
    if (name === "ordering") for (const part of value.split(",")) refuseOrdering(part.trim());
    const closed = valuesOf(name, config);
    const isKnown = () =>
      closed?.includes(value) ||
      (name === "arch" && architecture.safeParse(value).success) ||
      records.some((record) => String(record[name]) === value);
    if (closed && value !== "" && value !== "null" && !isKnown()) {
      const near = nearestName(value, closed);
      const expected =
        name === "arch" ? "a Debian architecture such as amd64, or all" : `one of ${closed.join(", ")}`;
      throw unfit(name, value, expected, near ? `Did you mean ${name}=${near}?` : undefined);
    }
  }
}

const flags = ["true", "false", "1", "0"];

function valuesOf(field: string, { packageTypes, platforms }: Config): string[] | undefined {
  switch (field) {
    case "package_type":
      return [...packageTypes.keys()].sort();
    case "platform":
      return [...platforms.keys()].sort((a, b) => a - b).map(String);
    case "operating_system":
      return [...new Set([...packageTypes.values()].map((type) => type.operating_system))].sort();
    case "arch":
      return [...architectureNames];
    case "exclude_from_api":
    case "gui_only":
    case "headless":
      return flags;
    default:
      return undefined;
  }
}

function refuseName(name: string): void {
  const known = [...filterFields, ...own, "format", "strict"];
  if (known.includes(name)) return;
  const near = nearestName(name, known);
  const hint = near
    ? `Did you mean ${near}?`
    : "relcat schema package-record names them; data cannot be filtered by.";
  throw failure("usage", `${display(name)} is not a field of a record`, hint);
}

function refuseVersion(value: string): void {
  if (value === "latest" || isVersion(value)) return;
  const hint = isLine(value) ? `The releases of a month: line=${value}` : "For example: version=26.09.001";
  throw unfit("version", value, "a version or latest", hint);
}

function refuseOrdering(term: string): void {
  const name = term.replace(/^-/, "");
  if (term === "" || isField(name)) return;
  const near = nearestName(name, filterFields);
  throw unfit("ordering", name, "fields of a record", near ? `Did you mean ${near}?` : undefined);
}

const unfit = (field: string, value: string, expected: string, hint?: string) =>
  failure("usage", `${field} is ${display(value)}, expected ${expected}`, hint);

/** Part of a catalog that a list of records needs. */
export interface ListedCatalog {
  config: Config;
  ledger: Ledger;
  identified: { releases: readonly IdentifiedRelease[] };
}

/**
 * Reads one release without the others, because reading a catalog of a thousand releases takes seconds.
 * @returns undefined if the other releases are needed too: for provisional ids, or because there is an error
 */
export async function readCutRelease(folder: string, version: string): Promise<ListedCatalog | undefined> {
  const catalog = await openCatalog(folder);
  const files = catalog.releases.find((release) => release.version === version);
  if (!files) return undefined;
  const contents = await catalog.files.readAll(pathsOfRelease(files));
  const release = catalog.identify(readRelease(files, contents, catalog));
  const isCut = release.packages.every(({ ledgerState }) => ledgerState !== "new");
  if (!isCut || release.packages.length !== catalog.ledger.ofVersion(version).length) return undefined;
  const { problems } = await catalog.finish();
  // Records of the other releases are missing only because these were not read.
  const isSound = problems.every(({ code, severity }) => code === "record-vanished" || severity !== "error");
  return isSound ? { ...catalog, identified: { releases: [release] } } : undefined;
}
