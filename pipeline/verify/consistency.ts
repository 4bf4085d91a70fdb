import type { PackageRecord } from "../documents/package-record.ts";
import type { BuildDocument, LatestDocument, ReleaseDocument } from "../documents/site.ts";
import { channelTarget } from "../documents/site-paths.ts";
import { versionsOfChannel } from "../selection/channels.ts";
import { sha256 } from "../trust/metadata.ts";
import { isAddition, isHosting } from "../trust/site-files.ts";
import type { SignedDocuments } from "./documents.ts";
import type { Finding } from "./finding.ts";

/** Signed documents repeat the same data: a difference between them is a signed contradiction. */
export function disagreements(documents: SignedDocuments): Finding[] {
  return [
    ...listAgainstReleases(documents),
    ...[...documents.releases].flatMap(([version, release]) => releaseFindings(version, release, documents)),
    ...latestFindings(documents),
  ];
}

const releasePath = (version: string) => `releases/${version}/release.json`;

function listAgainstReleases({ list, releases }: SignedDocuments): Finding[] {
  const findings: Finding[] = [];
  const texts = new Map(list.map((record) => [record.id, JSON.stringify(record)]));
  if (texts.size < list.length) findings.push({ path: "catalog/index.json", what: "has an id twice" });
  const seen = new Set<number>();
  for (const [version, { packages }] of releases) {
    for (const record of packages) {
      if (seen.has(record.id))
        findings.push({ path: releasePath(version), what: `has package ${record.id}, as another release` });
      seen.add(record.id);
      if (texts.get(record.id) !== JSON.stringify(record)) {
        const what = `describes package ${record.id} differently from the list`;
        findings.push({ path: releasePath(version), what });
      }
    }
  }
  for (const { id, version } of list.filter((record) => !seen.has(record.id)))
    findings.push({ path: releasePath(version), what: `lacks package ${id}, which is in the list` });
  return findings;
}

function releaseFindings(version: string, release: ReleaseDocument, documents: SignedDocuments): Finding[] {
  const { listed } = documents;
  const findings: Finding[] = [];
  const path = releasePath(version);
  const expect = (isRight: boolean, what: string) => {
    if (!isRight) findings.push({ path, what });
  };
  const hasText = (file: string, text: string) =>
    listed[file]?.sha256 === sha256(new TextEncoder().encode(text));
  expect(release.version === version, `is of ${release.version}`);
  for (const record of release.packages) {
    const { id } = record;
    expect(record.version === version, `has package ${id} of ${record.version}`);
    expect(Object.hasOwn(release.artifacts, id), `has no address of package ${id}`);
    expect(
      hasText(`api/v1/package/${id}/index.json`, JSON.stringify(record)),
      `describes package ${id} differently from api/v1/package/${id}/index.json`,
    );
  }
  const live = new Set(documents.list.map((record) => record.id));
  for (const { id } of release.retracted) {
    expect(!live.has(id), `has withdrawn package ${id}, which is in the list`);
    expect(Object.hasOwn(listed, `api/v1/package/${id}/gone.json`), `lacks api/v1/package/${id}/gone.json`);
    expect(
      !Object.hasOwn(listed, `api/v1/package/${id}/index.json`),
      `has withdrawn package ${id}, which is there`,
    );
  }
  return findings;
}

/** latest.json, which is of the default channel, and the document of each channel, against the index of channels. */
function latestFindings(documents: SignedDocuments): Finding[] {
  const { latest, channels } = documents;
  const ofDefault = channels && versionsOfChannel(channels.index);
  const findings = newestFindings("catalog/latest.json", latest, ofDefault, documents);
  if (!channels) return findings;
  for (const [name, document] of channels.documents) {
    const path = channelTarget(name);
    const offered = versionsOfChannel(channels.index, name) ?? new Set();
    const listed = document.releases.filter(({ halted }) => halted === null).map(({ version }) => version);
    if ([...offered].join() !== listed.join() || document.channel !== name)
      findings.push({ path, what: "offers other releases than the index of channels" });
    findings.push(...newestFindings(path, document, offered, documents));
  }
  return findings;
}

/** Each type has its own newest version among those that are offered, described as in the release document. */
function newestFindings(
  path: string,
  latest: LatestDocument,
  offered: ReadonlySet<string> | undefined,
  { list, releases }: SignedDocuments,
): Finding[] {
  const findings: Finding[] = [];
  const say = (what: string) => findings.push({ path, what });
  const newest = newestByType(list.filter(({ version }) => !offered || offered.has(version)));
  const packages = Array.isArray(latest.packages) ? latest.packages : [];
  const wanted = new Set([...newest.values()].flat().map(({ id }) => id));
  for (const entry of packages) {
    const record = newest.get(entry.package_type)?.find(({ id }) => id === entry.id);
    if (!record) say(`names package ${entry.id}, which is not the newest ${entry.package_type}`);
    else if (!isSame(entry, record, releases.get(record.version)))
      say(`describes package ${entry.id} differently from its release`);
    wanted.delete(entry.id);
  }
  for (const id of wanted) say(`lacks package ${id}, the newest of its type`);
  return findings;
}

function newestByType(list: readonly PackageRecord[]): Map<string, PackageRecord[]> {
  const newest = new Map<string, PackageRecord[]>();
  for (const record of list) {
    const [best] = newest.get(record.package_type) ?? [];
    if (!best || record.version > best.version) newest.set(record.package_type, [record]);
    else if (record.version === best.version) newest.get(record.package_type)?.push(record);
  }
  return newest;
}

function isSame(
  entry: LatestDocument["packages"][number],
  record: PackageRecord,
  release: ReleaseDocument | undefined,
): boolean {
  const artifact = release?.artifacts[record.id];
  const { sha256: hash, file, url, size, arch, ...rest } = entry;
  // A record may lack members that later versions of relcat add here.
  const shared = Object.entries(rest).every(
    ([field, value]) => !Object.hasOwn(record, field) || record[field as keyof PackageRecord] === value,
  );
  const { checksum } = record as { checksum: string };
  return (
    shared &&
    hash === (checksum === "unknown" ? null : checksum) &&
    [file, url, size, arch].join("\n") ===
      [artifact?.file, artifact?.url, artifact?.size, artifact?.arch].join("\n")
  );
}

/** Both build.json and the signed lists have all served files; the lists also have files that signing added. */
export function buildFindings(build: BuildDocument, { listed }: SignedDocuments): Finding[] {
  const paths = new Set([...Object.keys(build.files), ...Object.keys(listed)]);
  return [...paths].sort().flatMap((path) => {
    const [built, signed] = [build.files[path], listed[path]];
    if (built && built.sha256 === signed?.sha256 && built.size === signed.size) return [];
    if (!built && (path === "build.json" || isAddition(path))) return [];
    if (!signed && isHosting(path)) return [];
    return [{ path, what: "is not listed in build.json as it is in the signed lists" }];
  });
}
