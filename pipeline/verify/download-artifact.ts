import { z } from "zod";
import { failure, type RelcatError } from "../../shared/errors.ts";
import { name as nameSchema } from "../../shared/fields.ts";
import { isLine, isVersion, lineOf } from "../../shared/version.ts";
import type { DownloadDelivery } from "../documents/outputs/sites.ts";
import type { PackageRecord } from "../documents/package-record.ts";
import { channelsSchema, type ReleaseDocument } from "../documents/site.ts";
import { channelIndex, channelTarget } from "../documents/site-paths.ts";
import { shellWord } from "../project/display.ts";
import { versionsOfChannel } from "../selection/channels.ts";
import { isFilter } from "../selection/fields.ts";
import { architecturesOf, chooseLatestOfArchitecture } from "../selection/latest-of-architecture.ts";
import { indexRecords, type Row } from "../selection/record-index.ts";
import { downloadTo } from "../system/network/download-file.ts";
import { parsedAs } from "../trust/parsed-state.ts";
import { maxArtifactBytes, placeOf } from "./artifacts.ts";
import { readTarget, versionsOf } from "./documents.ts";
import type { TrustedPlace } from "./place.ts";
import { siteAt } from "./stores/site-reader.ts";
import { openTrustedSite, type TrustedSite } from "./tuf-client.ts";
import { tampered } from "./tuf-refusals.ts";

interface DownloadRequest extends Wanted {
  /** Target path; default: the catalog's file name in the current folder. */
  out?: string | undefined;
  /** Size limit for a file of unknown size, in bytes. */
  maxBytes?: number | undefined;
  onProgress?: ((progress: { file: string; done: number; total: number }) => void) | undefined;
  pause?: ((milliseconds: number) => Promise<unknown>) | undefined;
}

/**
 * Downloads one file after verifying the metadata. The file gets its name only when it is verified.
 * @throws RelcatError artifact-withdrawn, artifact-missing, version-unknown, build-provisional, file-exists,
 * site-tampered, site-stale, site-expired, clock, network
 */
export async function downloadArtifact(
  known: Omit<TrustedPlace, "firstUse">,
  request: DownloadRequest,
): Promise<DownloadDelivery> {
  const { place, root, state, settles } = known;
  if (settles === false) throw notSettled(place, "settles: false");
  const trusted = await openTrustedSite(siteAt(place), root, state);
  const delivery = await deliver(trusted, request);
  await known.rememberFirst();
  return delivery;
}

const notSettled = (place: string, why: string) =>
  failure(
    "build-provisional",
    `${place} has what may still change (${why})`,
    "Download from the site that is published for good.",
  );

async function deliver(trusted: TrustedSite, request: DownloadRequest): Promise<DownloadDelivery> {
  const { site, headers } = trusted;
  const provisional = headers["x-relcat-provisional"];
  if (provisional !== undefined) throw notSettled(site.place, `X-Relcat-Provisional: ${provisional}`);
  const { record, release } = await find(trusted, request);
  const artifact = release.artifacts[record.id];
  if (release.provisional) throw notSettled(site.place, `${record.version} is provisional`);
  if (!artifact || !/^[0-9a-f]{64}$/.test(record.checksum))
    throw failure(
      "artifact-missing",
      `the catalog has no SHA-256 of ${artifact?.file ?? record.name}`,
      "It was imported from an older catalog without one; it cannot be verified.",
    );
  const file = request.out ?? harmlessName(trusted, artifact.file);
  const done = await downloadTo({
    place: placeOf(artifact, site, await baseOf(trusted)),
    file,
    sha256: record.checksum,
    size: artifact.size,
    maxBytes: request.maxBytes ?? maxArtifactBytes,
    onBytes: (bytes) => request.onProgress?.({ file, done: bytes, total: artifact.size ?? bytes }),
    pause: request.pause,
  });
  const { id, version, package_type, checksum } = record;
  return { ...done, file, id, version, package_type, sha256: checksum };
}

/** A name chosen by a signer must not lead out of the current folder. */
function harmlessName({ site }: TrustedSite, file: string): string {
  if (nameSchema.safeParse(file).success) return file;
  throw tampered(site, JSON.stringify(file), "is not a file name");
}

/** The record, which must be the same in the list and in its release document. */
async function find(trusted: TrustedSite, wanted: Wanted) {
  const read = async (version: string) =>
    (await readTarget(trusted, `releases/${version}/release.json`)) as ReleaseDocument;
  const list = (await readTarget(trusted, "catalog/index.json")) as PackageRecord[];
  const offered = await offeredVersions(trusted, wanted.channel);
  const record = await chooseRecord(list, wanted, read, offered);
  if (!record) {
    const versions = await versionsOf(trusted);
    const release = versions.includes(wanted.which) ? await read(wanted.which) : undefined;
    throw whyNone(wanted, isVersion(wanted.which) ? release : undefined, list, versions, offered);
  }
  const release = await read(record.version);
  const own = release.packages.find(({ id }) => id === record.id);
  if (JSON.stringify(own) === JSON.stringify(record)) return { record, release };
  const path = `releases/${record.version}/release.json`;
  throw tampered(trusted.site, path, `describes package ${record.id} differently from the list`);
}

/** @throws RelcatError channel-unknown */
async function offeredVersions(trusted: TrustedSite, name?: string) {
  const path = channelTarget(channelIndex);
  const isThere = Boolean(await trusted.describe(path));
  if (!isThere && name === undefined) return undefined;
  const index = isThere ? channelsSchema.safeParse(await readTarget(trusted, path)).data : undefined;
  if (isThere && !index) throw tampered(trusted.site, path, "breaks its schema");
  const versions = index && versionsOfChannel(index, name);
  if (versions) return versions;
  const names = index?.channels.map((each) => each.name).join(", ");
  throw failure(
    "channel-unknown",
    `${trusted.site.place} has no channel ${JSON.stringify(name)}`,
    names ? `Name one of its channels: ${names}.` : "Leave out --channel: the site has no channels.",
  );
}

const buildBase = z.object({ base_url: z.string() });

/** Base address of a build in a folder; undefined if missing. @throws RelcatError site-tampered */
async function baseOf({ site }: TrustedSite): Promise<string | undefined> {
  if (site.isRemote) return undefined;
  const { status, bytes } = await site.read("build.json", 64 * 1024 * 1024);
  if (status !== 200) return undefined;
  return parsedAs(buildBase, () => bytes, `${site.place}: build.json`).base_url;
}

interface Wanted {
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
 * @param offered versions among which the newest one is chosen; undefined: all
 * @throws RelcatError usage, also if several match
 */
async function chooseRecord(
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
  const field = isVersion(which) ? "version" : isLine(which) ? "line" : undefined;
  if (field === undefined && which !== "latest")
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
  const all: [string, string][] = [...given, ["package_type", packageType]];
  return field === undefined ? all : [...all, [field, which]];
}

function ambiguous({ packageType }: Wanted, fitting: readonly Fitting[], fields: readonly (keyof Fitting)[]) {
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

/** @param release document of the requested version, if it exists */
function whyNone(
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
  // Withdrawn files are never offered, regardless of the reason for the withdrawal.
  if (gone) {
    const instead = list.find(({ id }) => id === gone.replaced_by);
    return failure(
      "artifact-withdrawn",
      `${gone.file} was withdrawn: ${gone.reason}`,
      instead
        ? `Take ${instead.name} instead: ${["relcat download", instead.version, instead.package_type, origin ?? []].flat().join(" ")}`
        : "Nothing replaces it yet.",
    );
  }
  const isOffered = ({ version }: PackageRecord) =>
    (!isLine(which) || lineOf(version) === which) && (!offered || offered.has(version));
  const here = release?.packages ?? list.filter(isOffered);
  const types = [...new Set(here.map((record) => record.package_type))].sort();
  const nothing = release || !offered ? `${which} has no files at all.` : notOffered(which, offered);
  return failure(
    "artifact-missing",
    `there is no ${packageType} in ${which} that fits`,
    types.length === 0 ? nothing : `There are ${types.join(", ")}.`,
  );
}

function notOffered(which: string, offered: ReadonlySet<string>): string {
  const newest = [...offered].sort().at(-1);
  const instead = newest ? `Its newest is ${newest}.` : "Name a version, or another channel with --channel.";
  return `The channel offers no release${isLine(which) ? ` of ${which}` : ""}. ${instead}`;
}
