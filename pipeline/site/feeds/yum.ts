import { keysPath } from "../../documents/feeds/signing.ts";
import type { FeedConfig, OutputFile, OutputGroup, SiteConfig } from "../../documents/published.ts";
import { digestOf } from "../../journal/digest.ts";
import { textFile } from "../output.ts";
import type { Feed, OmittedPackage } from "./feed.ts";
import { updateElement } from "./yum-advisory.ts";
import { repoFile, repoFilePath } from "./yum-repo-file.ts";
import {
  filelistsIndex,
  otherIndex,
  primaryIndex,
  repodataOf,
  repositoryFiles,
  unsignedFolder,
  updateinfoIndex,
} from "./yum-repodata.ts";
import { type YumPackage, type YumRow, yumPart } from "./yum-rows.ts";
import { rpmSignersOf } from "./yum-signers.ts";

/** Repositories for yum, dnf and zypper. */
export const yumFeed: Feed<YumRow> = {
  name: "yum",
  part: yumPart,
  listed: (rows, config) =>
    reposIn(config).flatMap((repo) => packagesIn(repo, rows).listed.map(({ id }) => ({ index: repo, id }))),
  omitted: (rows, config) => reposIn(config).flatMap((repo) => packagesIn(repo, rows).omitted),
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
  const { listed } = packagesIn(repo, rows);
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
    updates: updatesIn(repo, rows, new Set(listed), product),
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
  const indexes = [
    primaryIndex(primary),
    ...(filelists ? [filelistsIndex(filelists)] : []),
    ...(other ? [otherIndex(other)] : []),
    ...(updates.length > 0 ? [updateinfoIndex(updates)] : []),
  ];
  const repodata = repodataOf(repo, indexes, content.time);
  yield* repositoryFiles(repo, repodata);
  if (!content.isSigned) yield* unsignedFolder(repo, repodata, content.baseUrl);
  yield textFile(settings.path, settings.text);
}

/** A repository lists the highest id of rpms that clients cannot distinguish. */
function packagesIn(
  repo: string,
  rows: readonly YumRow[],
): { listed: YumPackage[]; omitted: OmittedPackage[] } {
  const all = rows.flatMap(({ packages }) => packages).filter(({ repos }) => repos.includes(repo));
  const highest = new Map<string, number>();
  for (const { nevra, id } of all) highest.set(nevra, Math.max(id, highest.get(nevra) ?? 0));
  const isListed = ({ nevra, id }: YumPackage) => highest.get(nevra) === id;
  return {
    listed: all.filter(isListed),
    omitted: all
      .filter((entry) => !isListed(entry))
      .map(({ id, file, nevra }) => ({
        id,
        file,
        reason: `the repository ${repo} lists ${nevra} with the id ${highest.get(nevra)}`,
      })),
  };
}

const newestChange = (repo: string, rows: readonly YumRow[]): number =>
  rows
    .flatMap(({ packages, withdrawn }) => [...packages, ...withdrawn])
    .filter(({ repos }) => repos.includes(repo))
    .reduce((newest, { time }) => Math.max(newest, time), 0);

const updatesIn = (
  repo: string,
  rows: readonly YumRow[],
  listed: ReadonlySet<YumPackage>,
  product: string,
): string[] =>
  rows.flatMap(({ advisory, packages }) => {
    const updated = packages.filter((entry) => listed.has(entry)).flatMap(({ updated }) => updated ?? []);
    return advisory && updated.length > 0 ? [updateElement(advisory, updated, repo, product)] : [];
  });
