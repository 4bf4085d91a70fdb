import { gunzipSync } from "node:zlib";
import { utf8 } from "../../../inspect/bytes/small-file.ts";
import { readXml, type XmlElement } from "../../../inspect/bytes/xml.ts";
import { repomdPath } from "../../documents/feeds/signing.ts";
import { sha256 } from "../../trust/metadata.ts";
import {
  addressBelow,
  chainFindings,
  type FeedReport,
  type FeedSite,
  newReport,
  noteListed,
  rebuild,
} from "./feed-site.ts";

/** Follows each repository from repomd.xml to its indexes, and from these to the records. */
export async function yumReport(site: FeedSite): Promise<FeedReport> {
  const report = newReport();
  for (const path of Object.keys(site.listed)) {
    // Folders that are named by a digest are compared with these by the check of signatures.
    const [, repo] = /^yum\/([^/]{1,32})\/repodata\/repomd\.xml$/.exec(path) ?? [];
    if (repo !== undefined) await readRepository(repo, site, report);
  }
  return report;
}

async function readRepository(repo: string, site: FeedSite, report: FeedReport): Promise<void> {
  const path = repomdPath(repo);
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
      const what = `names ${index} with another open-checksum or open-size than it has decompressed${rebuild}`;
      report.findings.push({ path, what });
    }
    await readIndex(type, index, open, site, report);
  }
  if (!types.has("primary"))
    report.findings.push({ path, what: `has no primary index, which every repository has${rebuild}` });
}

async function opened(
  index: string,
  site: FeedSite,
  { findings }: FeedReport,
): Promise<Uint8Array | undefined> {
  const packed = await site.read(index);
  if (!packed) return undefined;
  try {
    return gunzipSync(packed);
  } catch {
    findings.push({ path: index, what: `cannot be decompressed, expected gzip${rebuild}` });
    return undefined;
  }
}

async function readIndex(
  type: string,
  path: string,
  bytes: Uint8Array,
  site: FeedSite,
  report: FeedReport,
): Promise<void> {
  if (type === "primary") {
    const metadata = await parsed(path, bytes, "metadata", report);
    if (!metadata) return;
    const packages = metadata.all("package");
    if (Number(metadata.attributes.packages) !== packages.length) {
      const what = `says ${metadata.attributes.packages} packages, expected ${packages.length}${rebuild}`;
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
        what: `names a package with the SHA-256 ${digest}, expected only live records${rebuild}`,
      });
}

const updatedIn = (update: XmlElement): string[] =>
  update
    .all("pkglist")
    .flatMap((list) => list.all("collection"))
    .flatMap((collection) => collection.all("package"))
    .map((entry) => textIn(entry, "sum"));

function notePackage(path: string, entry: XmlElement, site: FeedSite, report: FeedReport): void {
  if (hasSeveral(path, entry, ["location", "checksum", "size"], report)) return;
  const { "xml:base": base = "", href = "" } = entry.first("location")?.attributes ?? {};
  const file = packagePath(base, href, site.baseUrl);
  if (file === undefined) {
    const what = `has the location ${JSON.stringify(href)} with the base ${JSON.stringify(base)}, expected a path below ${site.baseUrl}/${rebuild}`;
    report.findings.push({ path, what });
    return;
  }
  noteListed(
    report,
    path,
    file,
    {
      url: addressBelow(site.baseUrl, file),
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
    const what = `has several elements ${name} for ${href}, expected one${rebuild}`;
    findings.push({ path, what });
  }
  return found.length > 0;
}

/** Indexes of earlier versions have no base, and paths that are relative to the folder of the repository. */
function packagePath(base: string, href: string, baseUrl: string): string | undefined {
  if (base === `${baseUrl}/`) return href;
  return base === "" ? /^\.\.\/\.\.\/(.+)$/.exec(href)?.[1] : undefined;
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
    findings.push({ path, what: `is not an XML document with the root ${root}${rebuild}` });
    return undefined;
  }
}

const textIn = (parent: XmlElement, name: string): string => parent.first(name)?.text ?? "";
