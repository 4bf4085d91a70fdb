import { failure, type RelcatError } from "../../shared/errors.ts";
import { isLine, isVersion, lineOf } from "../../shared/version.ts";
import type { PackageRecord } from "../documents/package-record.ts";
import type { ReleaseDocument, RetractedRecord } from "../documents/site.ts";
import { shellWord } from "../project/shell-word.ts";
import { isFilter } from "../selection/fields.ts";
import { architecturesOf, chooseLatestOfArchitecture } from "../selection/latest-of-architecture.ts";
import { indexRecords, type Row } from "../selection/record-index.ts";

/** The requested file. */
export interface Wanted {
  /** A version, a month, or `latest`. */
  which: string;
  packageType: string;
  /** `field=value` conditions that select one of several records. */
  settings: readonly string[];
  /** Undefined: the default one. */
  channel?: string | undefined;
  /** Options that set the site, repeated in hints. */
  origin?: string;
}

/**
 * Selects the record in a version, or in the newest version of a month or overall that has a match.
 * @param read reads the release document of a version
 * @param offered versions among which the newest one is chosen; undefined: all
 * @throws RelcatError usage if several match; artifact-missing, version-unknown
 */
export async function chooseRecord(
  list: readonly PackageRecord[],
  wanted: Wanted,
  read: (version: string) => Promise<ReleaseDocument>,
  offered?: ReadonlySet<string>,
): Promise<PackageRecord | undefined> {
  const index = indexRecords(list as unknown as Row[], offered);
  const { choice, architectures } = await chooseLatestOfArchitecture(
    index,
    parametersOf(wanted),
    async (version) => architecturesOf(await read(version)),
  );
  if (choice.kind === "none") return undefined;
  if (choice.kind === "one") return list[choice.position];
  const fitting = choice.positions.flatMap((position, at): Fitting[] => {
    const record = list[position];
    return record ? [{ ...record, ...(architectures && { arch: architectures[at] ?? null }) }] : [];
  });
  const fields = [...choice.distinguishing, ...(architectures ? ["arch"] : [])];
  throw ambiguous(wanted, fitting, fields as (keyof Fitting)[]);
}

/** A record, with its architecture if that is needed to choose it. */
type Fitting = PackageRecord & { arch?: string | null };

function parametersOf({ which, packageType, settings }: Wanted): [string, string][] {
  if (!isVersion(which) && !isLine(which) && which !== "latest")
    throw failure(
      "usage",
      `${JSON.stringify(which)} is not a version, a month or latest`,
      "For example: 26.08.002, 26.08 for the newest of that month, or latest.",
    );
  const given = settings.map((setting): [string, string] => {
    const [name = "", ...value] = setting.split("=");
    if ((isFilter(name) || name === "arch") && value.length > 0) return [name, value.join("=")];
    throw failure(
      "usage",
      `--set ${setting} is not field=value with a field of records`,
      "For example: --set min_os_version=22.04",
    );
  });
  const when: [string, string][] = isVersion(which)
    ? [["version", which]]
    : isLine(which)
      ? [["line", which]]
      : [];
  return [...given, ["package_type", packageType], ...when];
}

function ambiguous(
  { packageType }: Wanted,
  fitting: readonly Fitting[],
  fields: readonly (keyof Fitting)[],
): RelcatError {
  const [first] = fitting;
  const kinds = fields.filter((field) => field !== "id" && field !== "name");
  const settings = (record: Fitting, of: readonly (keyof Fitting)[]) =>
    of.map((field) => `--set ${shellWord(`${field}=${record[field] ?? ""}`)}`).join(" ");
  const byKind = fitting.map((record) => settings(record, kinds));
  const isAlone = (text: string) => byKind.filter((each) => each === text).length === 1;
  const rows = fitting.map((record, index) => {
    const kind = byKind[index] ?? "";
    return `${record.name} (${isAlone(kind) ? kind : settings(record, ["name"])})`;
  });
  const alike = byKind.filter((text) => !isAlone(text)).length;
  const names = alike > 0 ? ` Only their names tell ${alike} of them apart.` : "";
  return failure(
    "usage",
    `${fitting.length} files of ${first?.version} are of type ${packageType}: ${rows.join(", ")}`,
    `Repeat the command with the options behind a file.${names}`,
  );
}

/**
 * Explains why no record matches.
 * @param release document of the requested version, if it exists
 * @param offered versions among which the newest one is chosen; undefined: all
 */
export function whyNone(
  { which, packageType, origin }: Wanted,
  release: ReleaseDocument | undefined,
  list: readonly PackageRecord[],
  versions: readonly string[],
  offered?: ReadonlySet<string>,
): RelcatError {
  if (isVersion(which) && !release) {
    const hint = `The newest are ${versions.slice(-5).join(", ")}.`;
    return failure("version-unknown", `there is no release ${which} in this catalog`, hint);
  }
  const gone = release?.retracted.find((entry) => entry.package_type === packageType);
  if (gone) return withdrawn(gone, list, origin);
  const here = release
    ? release.packages
    : list.filter(
        ({ version }) =>
          (!isLine(which) || lineOf(version) === which) && (offered === undefined || offered.has(version)),
      );
  const types = [...new Set(here.map((record) => record.package_type))].sort();
  const nothing =
    release || !offered
      ? `${which} has no files at all.`
      : `The channel offers no release${isLine(which) ? ` of ${which}` : ""}. Name a version, such as ${versions.at(-1)}.`;
  return failure(
    "artifact-missing",
    `there is no ${packageType} in ${which} that fits`,
    types.length === 0 ? nothing : `There are ${types.join(", ")}.`,
  );
}

/** Withdrawn files are never offered, regardless of the reason for the withdrawal. */
function withdrawn(
  entry: RetractedRecord,
  list: readonly PackageRecord[],
  origin: string | undefined,
): RelcatError {
  const instead = list.find(({ id }) => id === entry.replaced_by);
  return failure(
    "artifact-withdrawn",
    `${entry.file} was withdrawn: ${entry.reason}`,
    instead
      ? `Take ${instead.name} instead: ${["relcat download", instead.version, instead.package_type, origin ?? []].flat().join(" ")}`
      : "Nothing replaces it yet.",
  );
}
