import { hash } from "node:crypto";
import { yumFolder } from "../../documents/feeds/paths.ts";
import {
  feedSlug,
  keysPath,
  mirrorlistPath,
  mirrorlistText,
  repomdPath,
} from "../../documents/feeds/signing.ts";
import type { FeedConfig, OutputFile, OutputGroup, SiteConfig } from "../../documents/published.ts";
import { digestOf } from "../../journal/digest.ts";
import { textFile } from "../output.ts";
import { type Feed, gzipped, indexOf } from "./feed.ts";
import { updateElement } from "./yum-advisory.ts";
import { type YumPackage, type YumRow, yumPart } from "./yum-rows.ts";
import { type Attributes, element, parent } from "./yum-xml.ts";

export const yumFeed: Feed<YumRow> = {
  name: "yum",
  part: yumPart,
  indexes: (rows, config) => reposIn(config).map((repo) => repoIndex(repo, rows)),
  *groups(rows, config, isSigned) {
    const contents = reposIn(config).map((repo) => contentOf(repo, rows, config, isSigned));
    yield certificateGroup(contents);
    for (const content of contents)
      yield {
        name: `yum ${content.repo}`,
        key: digestOf(content),
        files: { [Symbol.iterator]: () => filesOf(content) },
      };
  },
};

const reposIn = ({ feeds: { yum } }: FeedConfig): string[] => (yum?.repos ?? []).map(({ name }) => name);

type RepositoryContent = ReturnType<typeof contentOf>;

function contentOf(repo: string, rows: readonly YumRow[], config: SiteConfig, isSigned: boolean) {
  const { baseUrl, product, feeds } = config;
  const chosen = new Set(repoIndex(repo, rows).listed);
  const listed = rows.flatMap(({ packages }) => packages).filter((entry) => chosen.has(entry));
  const certificates = rpmCertificates(listed, config);
  const keys = [...(isSigned ? [keysPath(product)] : []), ...certificates.map(({ path }) => path)];
  const settings = [
    `[${feedSlug(product)}-${repo}]`,
    `name=${product} (${repo})`,
    // The folder that the mirrorlist names never changes, so that no client reads half a publish.
    `mirrorlist=${baseUrl}/${mirrorlistPath(repo)}`,
    "enabled=1",
    "autorefresh=1",
    `repo_gpgcheck=${Number(isSigned)}`,
    `gpgcheck=${Number(certificates.length > 0)}`,
    ...(keys.length > 0 ? [`gpgkey=${keys.map((path) => `${baseUrl}/${path}`).join("\n       ")}`] : []),
  ];
  return {
    repo,
    baseUrl,
    isSigned,
    time: newestChange(repo, rows),
    primary: listed.map(({ primary }) => primary),
    filelists: feeds.yum?.filelists ? listed.map(({ filelists }) => filelists ?? "") : null,
    other: feeds.yum?.changelogs ? listed.map(({ other }) => other ?? "") : null,
    updates: updatesIn(repo, rows, chosen, product),
    settings: { path: repoFilePath(repo, product), text: `${settings.join("\n")}\n` },
    certificates,
  };
}

/** Path of a repository's settings, which clients copy into /etc/yum.repos.d or /etc/zypp/repos.d. */
export const repoFilePath = (repo: string, product: string): string => `${feedSlug(product)}-${repo}.repo`;

/** Repositories may share signers. */
function certificateGroup(contents: readonly RepositoryContent[]): OutputGroup {
  const files = new Map(contents.flatMap((content) => content.certificates.map((file) => [file.path, file])));
  return {
    name: "yum certificates",
    key: digestOf([...files]),
    files: Array.from(files.values(), ({ path, armored }) => textFile(path, armored)),
  };
}

function* filesOf(content: RepositoryContent): Generator<OutputFile> {
  const { repo, primary, filelists, other, updates, settings, baseUrl } = content;
  const listOf = (name: string, packages: readonly string[], namespaces: Attributes) =>
    documentOf(name, packages, { ...namespaces, packages: packages.length });
  const indexes = {
    primary: listOf("metadata", primary, withRpm("common")),
    ...(filelists && { filelists: listOf("filelists", filelists, xmlns("filelists")) }),
    ...(other && { other: listOf("otherdata", other, xmlns("other")) }),
    ...(updates.length > 0 && { updateinfo: documentOf("updates", updates, {}) }),
  };
  const { files, repomd } = repodataOf(repo, indexes, content.time);
  // For clients that know no mirrorlist. `sign` adds the signature, and makes the folder.
  for (const { path, chunks } of files) yield { path: `yum/${repo}/${path}`, chunks };
  yield textFile(repomdPath(repo), repomd);
  if (!content.isSigned) {
    // The folder that never changes, and the mirrorlist that names it.
    const folder = yumFolder(hash("sha256", repomd));
    for (const { path, chunks } of files)
      yield { path: `${folder}/${path}`, chunks, sameAs: `yum/${repo}/${path}` };
    yield textFile(`${folder}/repodata/repomd.xml`, repomd);
    yield textFile(mirrorlistPath(repo), mirrorlistText(baseUrl, folder));
  }
  yield textFile(settings.path, settings.text);
}

const repoIndex = (repo: string, rows: readonly YumRow[]) =>
  indexOf(
    repo,
    rows.flatMap(({ packages }) => packages).filter(({ repos }) => repos.includes(repo)),
    ({ nevra }) => nevra,
    (nevra, id) => `the repository ${repo} lists ${nevra} with the id ${id}`,
  );

const newestChange = (repo: string, rows: readonly YumRow[]): number =>
  rows
    .flatMap(({ packages, changes }) => [...packages, ...changes])
    .filter(({ repos }) => repos.includes(repo))
    .reduce((newest, { time }) => Math.max(newest, time), 0);

const updatesIn = (
  repo: string,
  rows: readonly YumRow[],
  listed: ReadonlySet<YumPackage>,
  product: string,
): string[] =>
  rows.flatMap(({ advisories, packages }) => {
    const updated = packages.filter((entry) => listed.has(entry)).flatMap(({ updated }) => updated ?? []);
    if (updated.length === 0) return [];
    return advisories.map((advisory) => updateElement(advisory, updated, repo, product));
  });

/**
 * Certificates that clients need to check the rpms themselves: none unless each rpm was signed under one of them, because
 * clients check either all rpms of a repository or none.
 */
function rpmCertificates(packages: readonly YumPackage[], { product, rpmSigners }: SiteConfig) {
  const used = new Set(packages.map(({ keyId }) => keyId));
  const signers = rpmSigners.filter(({ keyIds }) => keyIds.some((id) => used.has(id)));
  const known = new Set(signers.flatMap(({ keyIds }) => keyIds));
  if ([...used].some((id) => id === null || !known.has(id))) return [];
  return signers.map(({ keyIds: [id = ""], armored }) => {
    return { path: `keys/${feedSlug(product)}-rpm-${id}.asc`, armored };
  });
}

/**
 * The tag with the repository's name keeps the folders of equal repositories apart.
 * @param indexes XML documents by their types
 * @param time in seconds since 1970
 */
function repodataOf(repo: string, indexes: Readonly<Record<string, string>>, time: number) {
  const data: string[] = [];
  const files = Object.entries(indexes).map(([type, xml]) => {
    const open = encoder.encode(xml);
    const bytes = gzipped(open);
    const checksum = hash("sha256", bytes);
    const href = `repodata/${checksum}-${type}.xml.gz`;
    data.push(
      parent("data", { type }, [
        element("checksum", { type: "sha256" }, checksum),
        element("open-checksum", { type: "sha256" }, hash("sha256", open)),
        element("location", { href }),
        element("timestamp", {}, String(time)),
        element("size", {}, String(bytes.length)),
        element("open-size", {}, String(open.length)),
      ]),
    );
    return { path: href, chunks: [bytes] };
  });
  const head = [element("revision", {}, String(time)), parent("tags", {}, [element("content", {}, repo)])];
  return { files, repomd: documentOf("repomd", [...head, ...data], withRpm("repo")) };
}

const namespace = (name: string): string => `http://linux.duke.edu/metadata/${name}`;
const xmlns = (name: string) => ({ xmlns: namespace(name) });
const withRpm = (name: string) => ({ ...xmlns(name), "xmlns:rpm": namespace("rpm") });

const documentOf = (name: string, children: readonly string[], attributes: Attributes): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${parent(name, attributes, children)}\n`;

const encoder = new TextEncoder();
