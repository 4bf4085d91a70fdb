import { gunzipSync } from "node:zlib";
import { utf8 } from "../../../inspect/bytes/byte-source.ts";
import { readXml, type XmlElement } from "../../../inspect/bytes/xml.ts";
import { sha256 } from "../../../pipeline/trust/metadata.ts";
import {
  addressBelow,
  type BuiltFeeds,
  chainFindings,
  type FeedReport,
  newReport,
  noteListed,
} from "./built-feeds.ts";

/** Follows each repository from repomd.xml to its indexes, and from these to the records. */
export async function yumReport(site: BuiltFeeds): Promise<FeedReport> {
  const report = newReport();
  for (const path of Object.keys(site.listed)) {
    // Folders that are named by a digest have the same files.
    const [, repo] = /^yum\/([^/]{1,32})\/repodata\/repomd\.xml$/.exec(path) ?? [];
    if (repo !== undefined) await readRepository(repo, site, report);
  }
  return report;
}

async function readRepository(repo: string, site: BuiltFeeds, report: FeedReport): Promise<void> {
  const path = `yum/${repo}/repodata/repomd.xml`;
  const bytes = await site.read(path);
  const repomd = bytes && (await parsed(path, bytes, "repomd", report));
  if (!repomd) return;
  const types = new Set<string>();
  for (const data of repomd.all("data")) {
    const type = data.attributes.type ?? "";
    types.add(type);
    if (hasSeveral(path, data, ["location", "checksum", "size", "open-checksum", "open-size"], report))
      continue;
    const index = `yum/${repo}/${data.first("location")?.attributes.href ?? ""}`;
    const named = { sha256: textIn(data, "checksum"), size: Number(textIn(data, "size")) };
    report.findings.push(...chainFindings(path, index, named, site));
    const open = await opened(index, site, report);
    if (!open) continue;
    if (sha256(open) !== textIn(data, "open-checksum") || open.length !== Number(textIn(data, "open-size"))) {
      const what = `names ${index} with another open-checksum or open-size than it has decompressed`;
      report.findings.push({ path, what });
    }
    await readIndex(type, index, open, site, report);
  }
  if (!types.has("primary"))
    report.findings.push({ path, what: `has no primary index, which every repository has` });
}

async function opened(
  index: string,
  site: BuiltFeeds,
  { findings }: FeedReport,
): Promise<Uint8Array | undefined> {
  const packed = await site.read(index);
  if (!packed) return undefined;
  try {
    return gunzipSync(packed);
  } catch {
    findings.push({ path: index, what: `cannot be decompressed, expected gzip` });
    return undefined;
  }
}

async function readIndex(
  type: string,
  path: string,
  bytes: Uint8Array,
  site: BuiltFeeds,
  report: FeedReport,
): Promise<void> {
  if (type === "primary") {
    const metadata = await parsed(path, bytes, "metadata", report);
    if (!metadata) return;
    const packages = metadata.all("package");
    if (Number(metadata.attributes.packages) !== packages.length) {
      const what = `says ${metadata.attributes.packages} packages, expected ${packages.length}`;
      report.findings.push({ path, what });
    }
    for (const entry of packages) notePackage(path, entry, site, report);
    return;
  }
  const known = new Set(Array.from(site.live.values(), (file) => file.sha256));
  const named =
    type === "filelists" || type === "other"
      ? (await parsed(path, bytes, type === "other" ? "otherdata" : type, report))
          ?.all("package")
          .map(({ attributes }) => attributes.pkgid)
      : (await parsed(path, bytes, "updates", report))?.all("update").flatMap(updatedIn);
  for (const digest of named ?? [])
    if (!known.has(digest ?? ""))
      report.findings.push({
        path,
        what: `names a package with the SHA-256 ${digest}, expected only live records`,
      });
}

const updatedIn = (update: XmlElement): string[] =>
  update
    .all("pkglist")
    .flatMap((list) => list.all("collection"))
    .flatMap((collection) => collection.all("package"))
    .map((entry) => textIn(entry, "sum"));

function notePackage(path: string, entry: XmlElement, site: BuiltFeeds, report: FeedReport): void {
  if (hasSeveral(path, entry, ["location", "checksum", "size"], report)) return;
  const { "xml:base": base = "", href = "" } = entry.first("location")?.attributes ?? {};
  if (base !== `${site.baseUrl}/`) {
    const what = `has the location ${JSON.stringify(href)} with the base ${JSON.stringify(base)}, expected a path below ${site.baseUrl}/`;
    report.findings.push({ path, what });
    return;
  }
  noteListed(
    report,
    path,
    href,
    {
      url: addressBelow(site.baseUrl, href),
      sha256: textIn(entry, "checksum"),
      size: Number(entry.first("size")?.attributes.package),
    },
    site,
  );
}

/** Clients differ in which of several elements they use. */
function hasSeveral(
  path: string,
  parent: XmlElement,
  names: readonly string[],
  { findings }: FeedReport,
): boolean {
  const found = names.filter((name) => parent.all(name).length > 1);
  for (const name of found) {
    const href = parent.first("location")?.attributes.href;
    const what = `has several elements ${name} for ${href}, expected one`;
    findings.push({ path, what });
  }
  return found.length > 0;
}

/** @returns undefined after adding a finding, if the bytes are another document */
async function parsed(
  path: string,
  bytes: Uint8Array,
  root: string,
  { findings }: FeedReport,
): Promise<XmlElement | undefined> {
  try {
    return await readXml(utf8(bytes, path), [root], path);
  } catch {
    findings.push({ path, what: `is not an XML document with the root ${root}` });
    return undefined;
  }
}

const textIn = (parent: XmlElement, name: string): string => parent.first(name)?.text ?? "";
