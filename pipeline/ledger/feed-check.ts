import type { Problem } from "../../shared/errors.ts";
import type { Settings } from "../documents/config.ts";
import type { AptSuite, FeedSettings } from "../documents/feeds/settings.ts";
import { display } from "../project/display.ts";
import { type ArtifactOutline, isPrivate } from "../records/normalize.ts";
import { error } from "../records/report.ts";
import { foreignBound, isInSuite, isUbuntu, yumReposOf } from "../selection/feed-indexes.ts";
import type { IdentifiedOutline } from "./assign-ids.ts";
import type { CatalogHead } from "./catalog.ts";

/** A public record of a format that repositories have. */
interface Listed {
  id: number;
  isNew: boolean;
  version: string;
  artifact: ArtifactOutline;
}

/** Finds packages that a package repository cannot keep apart, among all releases. */
export function feedCheck({ feeds, channels }: Settings, place: CatalogHead["configPlace"]) {
  const byName = new Map<string, Listed[]>();
  const foreign = new Map<AptSuite, ForeignBounds>();
  return {
    /** @param release the next one, ascending by version */
    next({ release: { version }, packages }: IdentifiedOutline) {
      if (!feeds.apt && !feeds.yum && !feeds.helm) return;
      for (const { id, ledgerState, retraction, artifact } of packages) {
        const { repository, file } = artifact;
        if (!repository || retraction || isPrivate(artifact.content)) continue;
        const key = `${repository.format} ${repository.name}`;
        const listed = byName.get(key) ?? [];
        listed.push({ id, isNew: ledgerState === "new", version, artifact });
        byName.set(key, listed);
        if (repository.format !== "deb") continue;
        // Suites of other channels take the same files.
        const suites = feeds.apt?.suites.filter(({ channel }) => channel === channels[0]);
        for (const suite of suites ?? []) {
          const bound = foreignBound(suite, recordOf(artifact));
          if (bound === undefined) continue;
          const first = foreign.get(suite) ?? { bound, file, version, count: 0 };
          foreign.set(suite, { ...first, count: first.count + 1 });
        }
      }
    },
    finish: (): Problem[] => [
      ...Array.from(foreign, ([suite, found]) => mixedSuite(suite, found, place)),
      ...byName.values().flatMap((listed) => duplicates(listed, feeds)),
    ],
  };
}

/** Bounds that cannot be compared with a suite's version. */
interface ForeignBounds {
  bound: string;
  file: string;
  version: string;
  count: number;
}

const recordOf = ({ file, content }: ArtifactOutline) => ({ ...content, file });

function mixedSuite(
  { name, version: wanted = "" }: AptSuite,
  { bound, file, version, count }: ForeignBounds,
  place: CatalogHead["configPlace"],
): Problem {
  const system = isUbuntu(wanted) ? "not a version of Ubuntu" : "a version of Ubuntu";
  const more = count > 1 ? `, and so are bounds of ${count - 1} more` : "";
  const message = `the suite ${name} takes debs whose OS versions include ${wanted}, but the bound ${bound} of ${display(file)} in ${version} is ${system}${more}`;
  const hint = `Bounds do not name a system, so say which files the suite takes: ${name}: { version: "${wanted}", match: "*_NAME_*" }.`;
  return error("suite-mixed", place(["feeds", "apt", "suites", name]), message, hint);
}

/** Published files stay; `status` shows which of them is listed. */
function duplicates(listed: readonly Listed[], feeds: FeedSettings): Problem[] {
  return listed.flatMap((entry, index) => {
    if (!entry.isNew) return [];
    // The later one of two new files is reported.
    const others = listed.filter((other, at) => other !== entry && (!other.isNew || at < index));
    for (const other of others) {
      const [own, its] = [entry, other].map(({ artifact }) => indexesOf(artifact, feeds));
      const shared = own?.find((name) => its?.includes(name));
      if (shared !== undefined) return [duplicate(entry, other, shared)];
    }
    return [];
  });
}

/** Lists of packages that would contain an artifact, as messages name them. */
function indexesOf(artifact: ArtifactOutline, { apt, yum, helm }: FeedSettings): string[] {
  if (artifact.repository?.format === "helm") return helm ? ["the index of charts"] : [];
  if (artifact.repository?.format === "rpm")
    return yum ? yumReposOf(artifact.file, yum).map(({ name }) => `the repository ${name}`) : [];
  const suites = apt?.suites.filter((suite) => isInSuite(suite, recordOf(artifact))) ?? [];
  return suites.map(({ name }) => `the suite ${name}`);
}

function duplicate({ artifact }: Listed, other: Listed, index: string): Problem {
  const { file, repository } = artifact;
  const message = `${display(file)} is ${repository?.name}, and so is ${display(other.artifact.file)} of ${other.version} (id ${other.id}); ${index} would list both`;
  const hint =
    repository?.format === "helm"
      ? "Helm cannot tell them apart. Give the chart a higher version in Chart.yaml, or leave out a chart that is published already."
      : "Package managers cannot tell them apart. Give the package a higher version, leave out a file that is published " +
        "already, or let `match` in catalog.yaml take one of the two.";
  return error("feed-duplicate", artifact.place(), message, hint);
}
