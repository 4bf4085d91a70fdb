import { createHash } from "node:crypto";
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
import { repoFile, repoFilePath } from "./yum-repo-file.ts";
import { type YumPackage, type YumRow, yumPart } from "./yum-rows.ts";
import { type Attributes, element, parent } from "./yum-xml.ts";

/** Repositories for yum, dnf and zypper. */
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

/** Everything that the files of a repository are made from. */
interface RepositoryContent {
  repo: string;
  baseUrl: string;
  isSigned: boolean;
  /** Time of its newest change, in seconds since 1970. */
  time: number;
  primary: string[];
  filelists: string[] | null;
  other: string[] | null;
  updates: string[];
  settings: { path: string; text: string };
  /** Certificates under which its rpms are signed. */
  certificates: { path: string; armored: string }[];
}

function contentOf(
  repo: string,
  rows: readonly YumRow[],
  config: SiteConfig,
  isSigned: boolean,
): RepositoryContent {
  const { baseUrl, product, feeds } = config;
  const chosen = new Set(repoIndex(repo, rows).listed);
  const listed = rows.flatMap(({ packages }) => packages).filter((entry) => chosen.has(entry));
  const signers = rpmSignersOf(listed, config);
  const keys = [...(isSigned ? [keysPath(product)] : []), ...signers.certificates.map(({ path }) => path)];
  const { areAll: arePackagesSigned } = signers;
  return {
    repo,
    baseUrl,
    isSigned,
    time: newestChange(repo, rows),
    primary: listed.map(({ primary }) => primary),
    filelists: feeds.yum?.filelists ? listed.map(({ filelists }) => filelists ?? "") : null,
    other: feeds.yum?.changelogs ? listed.map(({ other }) => other ?? "") : null,
    updates: updatesIn(repo, rows, chosen, product),
    settings: {
      path: repoFilePath(repo, product),
      text: repoFile({ repo, isSigned, arePackagesSigned, keys }, config),
    },
    certificates: signers.certificates,
  };
}

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
  const { repo, primary, filelists, other, updates, settings } = content;
  const indexes: YumIndex[] = [
    packageIndex("primary", "metadata", primary, withRpm("common")),
    ...(filelists ? [packageIndex("filelists", "filelists", filelists, xmlns("filelists"))] : []),
    ...(other ? [packageIndex("other", "otherdata", other, xmlns("other"))] : []),
    ...(updates.length > 0 ? [updateIndex(updates)] : []),
  ];
  const { files, repomd } = repodataOf(repo, indexes, content.time);
  // For clients that know no mirrorlist. `sign` adds the signature, and makes the folder.
  for (const { path, chunks } of files) yield { path: `yum/${repo}/${path}`, chunks };
  yield textFile(repomdPath(repo), repomd);
  if (!content.isSigned) yield* unsignedFolder(repo, files, repomd, content.baseUrl);
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
 * Certificates that clients need to check the rpms themselves, and whether each rpm was signed under one of them.
 * Clients check either all rpms of a repository or none.
 */
function rpmSignersOf(
  packages: readonly YumPackage[],
  { product, rpmSigners }: Pick<SiteConfig, "product" | "rpmSigners">,
) {
  const used = new Set(packages.map(({ keyId }) => keyId));
  const signers = rpmSigners.filter(({ keyIds }) => keyIds.some((id) => used.has(id)));
  const known = new Set(signers.flatMap(({ keyIds }) => keyIds));
  const areAll = used.size > 0 && [...used].every((id) => id !== null && known.has(id));
  const certificates = signers.map(({ keyIds: [id = ""], armored }) => ({
    path: `keys/${feedSlug(product)}-rpm-${id}.asc`,
    armored,
  }));
  return { areAll, certificates: areAll ? certificates : [] };
}

/** An index of a repository, such as primary.xml. */
interface YumIndex {
  type: "primary" | "filelists" | "other" | "updateinfo";
  xml: string;
}

const packageIndex = (
  type: YumIndex["type"],
  name: string,
  packages: readonly string[],
  namespaces: Attributes,
): YumIndex => ({ type, xml: documentOf(name, packages, { ...namespaces, packages: packages.length }) });

const updateIndex = (updates: readonly string[]): YumIndex => ({
  type: "updateinfo",
  xml: documentOf("updates", updates, {}),
});

/**
 * The folder `repodata` of a repository. The tag with the repository's name keeps the folders of equal repositories apart.
 * @param time of the repository's newest change, in seconds since 1970
 */
function repodataOf(repo: string, indexes: readonly YumIndex[], time: number) {
  const data: string[] = [];
  const files = indexes.map(({ type, xml }) => {
    const open = encoder.encode(xml);
    const bytes = gzipped(open);
    const href = `repodata/${sha256(bytes)}-${type}.xml.gz`;
    data.push(
      parent("data", { type }, [
        element("checksum", { type: "sha256" }, sha256(bytes)),
        element("open-checksum", { type: "sha256" }, sha256(open)),
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

/** The folder that never changes, and the mirrorlist that names it, if nothing is signed. */
function* unsignedFolder(
  repo: string,
  indexes: readonly OutputFile[],
  repomd: string,
  baseUrl: string,
): Generator<OutputFile> {
  const folder = yumFolder(sha256(encoder.encode(repomd)));
  for (const { path, chunks } of indexes)
    yield { path: `${folder}/${path}`, chunks, sameAs: `yum/${repo}/${path}` };
  yield textFile(`${folder}/repodata/repomd.xml`, repomd);
  yield textFile(mirrorlistPath(repo), mirrorlistText(baseUrl, folder));
}

const namespace = (name: string): string => `http://linux.duke.edu/metadata/${name}`;
const xmlns = (name: string) => ({ xmlns: namespace(name) });
const withRpm = (name: string) => ({ ...xmlns(name), "xmlns:rpm": namespace("rpm") });

const documentOf = (name: string, children: readonly string[], attributes: Attributes): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${parent(name, attributes, children)}\n`;

const encoder = new TextEncoder();
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
