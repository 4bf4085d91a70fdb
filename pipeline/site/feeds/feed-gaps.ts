import type { Place, Problem } from "../../../shared/errors.ts";
import { sourcePackage } from "../../../shared/package-metadata.ts";
import type { Settings } from "../../documents/config.ts";
import type { FeedGap } from "../../documents/outputs/catalog.ts";
import type { FeedsDocument } from "../../documents/site.ts";
import type { Package } from "../../ledger/assign-ids.ts";
import type { Catalog, CatalogHead } from "../../ledger/catalog.ts";
import { publishRelease } from "../../ledger/publish-records.ts";
import {
  indistinguishable,
  noRepository,
  noSize,
  noSuite,
  notBelowSite,
  unknownMachine,
  unread,
  unusablePath,
} from "./feed.ts";
import { feedContents } from "./feeds.ts";
import { undigested } from "./incus.ts";

type Releases = Pick<Catalog, "identified" | "ledger"> & { config: Settings };

/** Newest release first. */
export const feedGaps = (catalog: Releases): FeedGap[] => gapsOf(catalog).map(({ gap }) => gap);

/** Gaps of records without a ledger line, which a cut makes permanent. */
export const newFeedGaps = (catalog: Releases): FeedGap[] =>
  gapsOf(catalog).flatMap(({ gap, isNew }) => (isNew ? [gap] : []));

interface FoundGap {
  gap: FeedGap;
  isNew: boolean;
  /** True if the feed lists another file under the same name. */
  isReplaced: boolean;
  place(): Place;
}

function gapsOf({ identified, ledger, config }: Releases): FoundGap[] {
  if (Object.keys(config.feeds).length === 0) return [];
  const releases = identified.releases.map((release) => publishRelease(release, ledger, config)).reverse();
  const packages = new Map<number, Package>(
    identified.releases.flatMap((release) => release.packages.map((entry) => [entry.id, entry] as const)),
  );
  return feedContents(releases, config).flatMap(({ feed, omitted, replaced }) =>
    [...omitted, ...replaced].flatMap((found) => {
      const { id, file, reason } = found;
      const entry = packages.get(id);
      if (!entry) return [];
      const { version } = entry.artifact.content;
      const isFillable = reason === unread || reason === undigested;
      const command = isFillable ? `relcat ingest --fill ${version} --artifacts FOLDER` : null;
      const gap = { feed, id, version, file, reason, command };
      const isReplaced = replaced.includes(found);
      return [{ gap, isNew: entry.ledgerState === "new", isReplaced, place: () => entry.artifact.place() }];
    }),
  );
}

/**
 * A problem for each reason why a feed leaves records of an open release out, at the first of them. Those that are cut
 * are one problem for each reason; a file whose place in a feed another one took is none, because nothing can change it.
 */
export function feedGapProblems(catalog: Releases): Problem[] {
  const found = gapsOf(catalog).filter(({ isNew, isReplaced }) => isNew || !isReplaced);
  const groups = Map.groupBy(found, ({ gap: { feed, reason, version }, isNew }) =>
    JSON.stringify([feed, reason, isNew ? version : ""]),
  );
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const { feed, reason } = first.gap;
    const isRequired =
      first.isNew && reason !== sourcePackage.reason && catalog.config.require.feeds.includes(feed);
    const otherGaps = others.map(({ gap }) => gap);
    return {
      code: "feed-left-out",
      severity: isRequired ? "error" : "warning",
      message: sentenceOf(first.gap, otherGaps),
      hint: hintOf(first.gap, otherGaps),
      at: first.place(),
    };
  });
}

/** As `feedGapProblems` for a build, which keeps no manifests: an id that the ledger lacks is that of an open release. */
export const requiredButLeftOut = (
  leftOut: FeedsDocument["feeds"],
  { config, configPlace, ledger }: CatalogHead,
): Problem[] =>
  leftOut
    .filter(({ feed }) => config.require.feeds.includes(feed))
    .flatMap(({ feed, left_out: omitted }) =>
      omitted
        .filter(({ id, reason }) => reason !== sourcePackage.reason && !ledger.byId.has(id))
        .map(({ file, reason }) => ({
          code: "feed-left-out",
          severity: "error",
          message: `${file} is not in the ${feed} feed, because ${reason}`,
          hint: "relcat check names its manifest, and says how to repair it.",
          at: configPlace(["require", "feeds"]),
        })),
    );

const maxNamed = 3;

/** The reason is about one file, and names it with "its". */
function sentenceOf({ feed, file, reason }: FeedGap, others: readonly FeedGap[]): string {
  const named = others.slice(0, maxNamed - 1).map((other) => other.file);
  const more = others.length > named.length ? [`${others.length - named.length} more`] : [];
  const rest = [...named, ...more].join(", ").replace(/, ([^,]+)$/, " and $1");
  return `${file} is not in the ${feed} feed, because ${reason}${rest && `; the same applies to ${rest}`}`;
}

const hints: ReadonlyMap<string, string> = new Map([
  [sourcePackage.reason, sourcePackage.hint],
  [notBelowSite, "Begin artifact_url in catalog.yaml with {base_url}, or remove url from its manifest."],
  [noSize, "Ingest it again on a machine that has the file, or add size to its manifest."],
  [noSuite, "Add a suite to feeds.apt.suites in catalog.yaml that takes it, or correct its OS versions."],
  [noRepository, "Add a repository to feeds.yum.repos in catalog.yaml whose match takes it."],
  [unknownMachine, "Ingest it again with --set arch=arm64, for example, or with arch in a rule of ingest:."],
]);

function hintOf({ reason, command, version }: FeedGap, others: readonly FeedGap[]): string {
  if (reason.startsWith(unusablePath))
    return "Rename the file before you ingest it, so that its name has no %, ? or #.";
  if (reason.startsWith(indistinguishable))
    return "Give one of their package types a variant in feeds.packslip of catalog.yaml, or do not name it there.";
  if (command === null)
    return (
      hints.get(reason) ??
      "It can be released, but no machine can install it from the feed. To list it, correct this and build the package again."
    );
  const versions = [...new Set([version, ...others.map((other) => other.version)])].sort();
  const shown = versions.slice(0, maxNamed).join(" ");
  const more = versions.length - maxNamed;
  const rest = more > 0 ? `. Do the same for ${more} more releases` : "";
  return `relcat ingest --fill ${shown} --artifacts FOLDER adds it, or says why the package has none${rest}.`;
}
