import type { AptSuite } from "../../documents/feeds/settings.ts";
import type { FeedConfig, OutputGroup, PublishedPackage, SiteConfig } from "../../documents/published.ts";
import { digestOf } from "../../journal/digest.ts";
import { repositoryName } from "../../records/repository-name.ts";
import { isInSuite } from "../../selection/feed-indexes.ts";
import { type AptIndex, indexFiles, packagesIndex } from "./apt-indexes.ts";
import { releaseFile } from "./apt-release.ts";
import { sourcesFile } from "./apt-sources.ts";
import { debStanza } from "./apt-stanza.ts";
import { type Feed, feedLocation, noSuite, type OmittedPackage, unread } from "./feed.ts";

/** A deb as the indexes list it. */
export interface AptRow {
  id: number;
  file: string;
  suites: readonly string[];
  architecture: string;
  /** Package, version and architecture; a suite lists one file with them. */
  identity: string;
  /** Its paragraph of `Packages`, with a final line feed. */
  stanza: string;
}

/** Repositories for apt. */
export const aptFeed: Feed<AptRow> = {
  name: "apt",
  part({ packages }, config) {
    const rows: AptRow[] = [];
    const omitted: OmittedPackage[] = [];
    for (const entry of packages) {
      if (!isDeb(entry)) continue;
      const row = rowOf(entry, config);
      if (typeof row !== "string") rows.push(row);
      else omitted.push({ id: entry.record.id, file: entry.file, reason: row });
    }
    return { rows, omitted };
  },
  *groups(rows, config, isSigned) {
    for (const suite of suitesOf(config)) yield suiteGroup(suite, rows, config, isSigned);
  },
  listed: (rows, config) =>
    suitesOf(config).flatMap(({ name }) =>
      [...newestOf(rowsOf(name, rows)).values()].map(({ id }) => ({ index: name, id })),
    ),
  omitted: (rows, config) =>
    suitesOf(config).flatMap(({ name }) => {
      const own = rowsOf(name, rows);
      const newest = newestOf(own);
      return own.flatMap(({ id, file, identity }) => {
        const listed = newest.get(identity)?.id;
        return listed === id
          ? []
          : [{ id, file, reason: `the suite ${name} lists ${identity} as the file with the id ${listed}` }];
      });
    }),
};

const suitesOf = ({ feeds }: FeedConfig): readonly AptSuite[] => feeds.apt?.suites ?? [];

const isDeb = ({ metadata, record }: PublishedPackage): boolean =>
  metadata ? metadata.type === "deb" : record.package_type === "deb";

/** @returns a reason for a package that the feed cannot list */
function rowOf(entry: PublishedPackage, config: FeedConfig): AptRow | string {
  const { metadata, record, file } = entry;
  if (metadata?.type !== "deb") return unread;
  const location = feedLocation(entry, config.baseUrl);
  if (typeof location === "string") return location;
  const suites = suitesOf(config).filter((suite) => isInSuite(suite, { ...record, file }));
  if (suites.length === 0) return noSuite;
  const listed = debStanza(metadata, location);
  if ("reason" in listed) return listed.reason;
  return {
    id: record.id,
    file,
    suites: suites.map(({ name }) => name),
    architecture: metadata.arch,
    identity: repositoryName(metadata)?.name ?? "",
    stanza: listed.stanza,
  };
}

const rowsOf = (suite: string, rows: readonly AptRow[]): AptRow[] =>
  rows.filter(({ suites }) => suites.includes(suite));

/** apt cannot distinguish files with the same identity, so only the newest record is listed. */
function newestOf(rows: readonly AptRow[]): ReadonlyMap<string, AptRow> {
  const newest = new Map<string, AptRow>();
  for (const row of rows) {
    const other = newest.get(row.identity);
    if (!other || other.id < row.id) newest.set(row.identity, row);
  }
  return newest;
}

/** All files of a suite in one group, because `Release` has the digests of all its indexes. */
function suiteGroup(
  suite: AptSuite,
  rows: readonly AptRow[],
  config: SiteConfig,
  isSigned: boolean,
): OutputGroup {
  const listed = [...newestOf(rowsOf(suite.name, rows)).values()];
  const architectures = architecturesOf(listed, config);
  const { product, baseUrl, feedKeys, feeds } = config;
  const { origin = product, label = product } = feeds.apt ?? {};
  return {
    name: `apt ${suite.name}`,
    key: digestOf({ product, baseUrl, feedKeys, origin, label, suite, isSigned, architectures }, listed),
    files: {
      *[Symbol.iterator]() {
        const indexes: AptIndex[] = [];
        for (const architecture of architectures) {
          const own = listed.filter((row) => row.architecture === architecture || row.architecture === "all");
          const stanzas = own.map(({ stanza }) => stanza);
          const index = packagesIndex(suite.name, architecture, stanzas);
          indexes.push(index);
          yield* indexFiles(index);
        }
        yield releaseFile(suite.name, indexes, { origin, label }, isSigned);
        yield sourcesFile(suite, architectures, config, isSigned);
      },
    },
  };
}

/** A package for all architectures does not reveal which architectures the suite needs. */
function architecturesOf(rows: readonly AptRow[], { feeds }: FeedConfig): readonly string[] {
  const own = new Set(rows.map(({ architecture }) => architecture));
  own.delete("all");
  return [...(own.size > 0 ? own : (feeds.apt?.architectures ?? []))].sort();
}
