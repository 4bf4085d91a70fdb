import { z } from "zod";
import type { PackageRecord } from "../documents/package-record.ts";
import { relativePathSchema } from "../documents/relative-path.ts";
import {
  type ChannelDocument,
  type ChannelsDocument,
  channelSchema,
  channelsSchema,
  type LatestDocument,
  latestSchema,
  type ReleaseDocument,
  releaseDocumentSchema,
  versionsPath,
} from "../documents/site.ts";
import { channelIndex, channelPath, channelTarget } from "../documents/site-paths.ts";
import { firstIssue } from "../trust/parsed-state.ts";
import { pathsOf } from "../trust/roles.ts";
import type { Finding, Listed } from "./finding.ts";
import type { TrustedSite } from "./tuf-client.ts";
import { tampered } from "./tuf-refusals.ts";

export interface SignedDocuments {
  build: string;
  /** Every file of the site. */
  listed: Listed;
  /** Release of each file that belongs to one. */
  owners: ReadonlyMap<string, string>;
  list: readonly PackageRecord[];
  latest: LatestDocument;
  /** undefined: the site has none. */
  channels: { index: ChannelsDocument; documents: ReadonlyMap<string, ChannelDocument> } | undefined;
  /** By version, ascending. */
  releases: ReadonlyMap<string, ReleaseDocument>;
  /** Number of records that violate details of the published schema, which imported ones may. */
  irregular: number;
  findings: Finding[];
}

/** Targets that are also served as site files, under these paths. */
const copies = (versions: Iterable<string>, channels: readonly string[]): [string, string][] => [
  ["catalog/index.json", "api/v1/package/index.json"],
  ["catalog/latest.json", "api/v1/latest.json"],
  ["catalog/versions.json", versionsPath],
  ...channels.map((name): [string, string] => [channelTarget(name), channelPath(name)]),
  ...[...versions].map((version): [string, string] => [
    `releases/${version}/release.json`,
    `api/v1/release/${version}/index.json`,
  ]),
];

const filesSchema = z.object({
  schema_version: z.literal(1),
  files: z.record(relativePathSchema, z.object({ sha256: z.string(), size: z.number() })),
});

/** Reads every document that a role is responsible for. @throws RelcatError site-tampered, site-expired, network */
export async function readDocuments(trusted: TrustedSite): Promise<SignedDocuments> {
  const findings: Finding[] = [];
  const catalog = await readFiles(trusted, "catalog/files.json");
  const listed: Record<string, Listed[string]> = { ...catalog };
  const owners = new Map<string, string>();
  const releases = new Map<string, ReleaseDocument>();
  let irregular = 0;
  for (const version of await versionsOf(trusted, findings)) {
    const path = `releases/${version}/release.json`;
    const shape = await readChecked(trusted, path, releaseDocumentSchema, findings);
    irregular += shape.irregular;
    if (shape.isRight) releases.set(version, shape.value);
    for (const [file, known] of Object.entries(await readFiles(trusted, `releases/${version}/files.json`))) {
      if (Object.hasOwn(listed, file)) findings.push({ path: file, what: "is listed twice" });
      listed[file] = known;
      owners.set(file, version);
    }
  }
  const list = await readTarget(trusted, "catalog/index.json");
  if (!Array.isArray(list)) throw tampered(trusted.site, "catalog/index.json", "is not a list");
  const latest = await readChecked(trusted, "catalog/latest.json", latestSchema, findings);
  // Earlier versions of relcat did not sign it.
  if (await trusted.describe("catalog/versions.json")) await readTarget(trusted, "catalog/versions.json");
  const channels = await readChannels(trusted, findings);
  const ofChannels = channels ? [channelIndex, ...channels.documents.keys()] : [];
  for (const [path, file] of copies(releases.keys(), ofChannels)) {
    if ((await trusted.describe(path))?.hashes.sha256 !== listed[file]?.sha256)
      findings.push({ path, what: `differs from the listed ${file}` });
  }
  const build = catalog["build.json"]?.sha256;
  if (build === undefined) throw tampered(trusted.site, "catalog/files.json", "lacks build.json");
  return { build, listed, owners, list, latest: latest.value, channels, releases, irregular, findings };
}

async function readChannels(trusted: TrustedSite, findings: Finding[]): Promise<SignedDocuments["channels"]> {
  const path = channelTarget(channelIndex);
  if (!(await trusted.describe(path))) return undefined;
  const index = await readChecked(trusted, path, channelsSchema, findings);
  if (!index.isRight) return undefined;
  const documents = new Map<string, ChannelDocument>();
  for (const { name } of index.value.channels) {
    const { value, isRight } = await readChecked(trusted, channelTarget(name), channelSchema, findings);
    if (isRight) documents.set(name, value);
  }
  return { index: index.value, documents };
}

export async function liveBuild(trusted: TrustedSite): Promise<string> {
  return (await readFiles(trusted, "catalog/files.json"))["build.json"]?.sha256 ?? "";
}

async function readFiles(trusted: TrustedSite, path: string): Promise<Listed> {
  const read = filesSchema.safeParse(await readTarget(trusted, path));
  if (!read.success) throw tampered(trusted.site, path, `is not a list of files: ${firstIssue(read.error)}`);
  return read.data.files;
}

/** @throws RelcatError site-tampered if no role is responsible for it, or it is not JSON */
export async function readTarget(trusted: TrustedSite, path: string): Promise<unknown> {
  const bytes = await trusted.target(path);
  if (!bytes) throw tampered(trusted.site, path, "has no responsible role: it is not a target of this site");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw tampered(trusted.site, path, "is not JSON");
  }
}

/** Versions with a responsible role, ascending. A cache may serve an old index of the site, so it is not used. */
export async function versionsOf(trusted: TrustedSite, findings: Finding[] = []): Promise<string[]> {
  const versions = new Set<string>();
  for (const file of Object.keys(trusted.snapshot.metadata.signed.meta)) {
    const name = file.replace(/\.json$/, "");
    const role = await trusted.role(name);
    const path = `metadata/${trusted.snapshot.metadata.signed.meta[file]?.version}.${file}`;
    if (!role) {
      findings.push({ path, what: "is in the snapshot, but no delegation names that role" });
      continue;
    }
    for (const target of Object.keys(role.metadata.signed.targets)) {
      if (!maySpeak(name, target))
        findings.push({ path, what: `signs ${target}, which belongs to another role` });
      else if (target.endsWith("/release.json")) versions.add(target.split("/")[1] ?? "");
    }
  }
  return [...versions].sort();
}

/** True if the delegations let clients ask this role about the path. */
function maySpeak(role: string, target: string): boolean {
  if (role !== "catalog" && !/^releases-\d\d\.\d\d$/.test(role)) return false;
  return pathsOf(role).some((pattern) => {
    const [start = ""] = pattern.split("*");
    return target.startsWith(start) && target.split("/").length === pattern.split("/").length;
  });
}

/** Key names in `data` are configurable, and imported values may break a format: those records are only counted. */
async function readChecked<T>(trusted: TrustedSite, path: string, schema: z.ZodType<T>, findings: Finding[]) {
  const value = (await readTarget(trusted, path)) as T;
  const { error } = schema.safeParse(value);
  const issues = error?.issues ?? [];
  const isDetail = ({ code, path }: (typeof issues)[number]) =>
    path.includes("data") || ["invalid_format", "too_small", "too_big", "custom"].includes(code);
  const wrong = issues.filter((issue) => !isDetail(issue));
  for (const { path: at, message } of wrong)
    findings.push({ path, what: `breaks its schema at ${at.join(".") || "its top"}: ${message}` });
  const records = issues.filter((issue) => isDetail(issue) && !issue.path.includes("data"));
  const irregular = new Set(records.map(({ path: at }) => at.slice(0, 2).join())).size;
  return { value, isRight: wrong.length === 0, irregular };
}
