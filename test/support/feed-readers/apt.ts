import { gunzipSync } from "node:zlib";
import type { Finding } from "../../../pipeline/verify/finding.ts";
import { parseParagraph } from "../../../shared/control-paragraph.ts";
import {
  addressBelow,
  type BuiltFeeds,
  chainFindings,
  type FeedReport,
  newReport,
  noteListed,
  textOf,
} from "./built-feeds.ts";

/** Follows each suite from Release to its indexes, and from these to the records. */
export async function aptReport(site: BuiltFeeds): Promise<FeedReport> {
  const report = newReport();
  const suites = new Set(
    Object.keys(site.listed).flatMap((path) => /^dists\/([^/]+)\/Release/.exec(path)?.[1] ?? []),
  );
  for (const suite of [...suites].sort()) await readSuite(suite, site, report);
  return report;
}

async function readSuite(suite: string, site: BuiltFeeds, report: FeedReport): Promise<void> {
  const folder = `dists/${suite}`;
  const path = `${folder}/${Object.hasOwn(site.listed, `${folder}/InRelease`) ? "InRelease" : "Release"}`;
  const release = await textOf(site, path);
  if (release === undefined) return;
  const named = digestsIn(release);
  for (const [name, known] of named) {
    const byHash = `${name.replace(/[^/]*$/, "")}by-hash/SHA256/${known.sha256}`;
    report.findings.push(
      ...chainFindings(path, `${folder}/${name}`, known, site),
      ...chainFindings(path, `${folder}/${byHash}`, known, site),
    );
  }
  for (const name of indexesOf(folder, site)) {
    if (!named.has(name)) report.findings.push(unnamed(path, `${folder}/${name}`));
    if (name.endsWith("/Packages")) await readIndex(`${folder}/${name}`, site, report);
  }
}

/** Sizes and digests by path, below `SHA256:` of a Release file. */
function digestsIn(release: string): Map<string, { sha256: string; size: number }> {
  const [, after = ""] = release.split(/^SHA256:\n/m);
  const digests = new Map<string, { sha256: string; size: number }>();
  for (const line of after.split("\n")) {
    const [, sha256, size, path] = /^ ([0-9a-f]{64}) +(\d+) (\S+)$/.exec(line) ?? [];
    if (sha256 === undefined || path === undefined) break;
    digests.set(path, { sha256, size: Number(size) });
  }
  return digests;
}

const indexesOf = (folder: string, { listed }: BuiltFeeds): string[] =>
  Object.keys(listed)
    .filter((path) => path.startsWith(`${folder}/`) && /\/Packages(?:\.gz|\.xz)?$/.test(path))
    .map((path) => path.slice(folder.length + 1))
    .sort();

const unnamed = (release: string, path: string): Finding => ({
  path: release,
  what: `does not name ${path}, expected its SHA-256 and size`,
});

async function readIndex(path: string, site: BuiltFeeds, report: FeedReport): Promise<void> {
  const packages = await textOf(site, path);
  if (packages === undefined) return;
  for (const [ending, unpack] of compressions) {
    const bytes = await site.read(path + ending);
    if (bytes && (await unpacked(bytes, unpack)) !== packages)
      report.findings.push({ path: path + ending, what: `is not ${path} once it is decompressed` });
  }
  for (const paragraph of packages.split("\n\n")) {
    const text = paragraph.replace(/\n+$/, "");
    if (text === "") continue;
    const fields = parseParagraph(text);
    if (typeof fields === "string") {
      report.findings.push({ path, what: `has a paragraph that ${fields}` });
      continue;
    }
    const file = fields.get("filename") ?? "";
    const sha256 = fields.get("sha256") ?? "";
    const indexed = { url: addressBelow(site.baseUrl, file), sha256, size: Number(fields.get("size")) };
    noteListed(report, path, file, indexed, site);
  }
}

type Unpack = (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>;

const compressions: readonly (readonly [ending: string, Unpack])[] = [
  [".gz", gunzipSync],
  [".xz", async (bytes) => (await import("@napi-rs/lzma")).xz.decompressSync(bytes)],
];

/** undefined for bytes that cannot be decompressed. */
async function unpacked(bytes: Uint8Array, unpack: Unpack): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await unpack(bytes));
  } catch {
    return undefined;
  }
}
