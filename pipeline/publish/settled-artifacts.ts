import { RelcatError } from "../../shared/errors.ts";
import type { ReleaseDocument } from "../documents/site.ts";
import type { SiteStore } from "../documents/site-store.ts";
import { inParallel } from "../system/in-parallel.ts";
import type { NamedArtifact } from "./named-artifacts.ts";

/** A site with permanent content, for comparison by a staging site. */
export interface SettlingSite {
  name: string;
  open(): Promise<SiteStore>;
}

/** Artifacts listed by settling sites, which a staging site need not have. */
export interface SettledArtifacts {
  artifacts: number;
  /** Versions, ascending. */
  releases: string[];
  /** Sites that list them. */
  sites: string[];
}

export interface SplitArtifacts {
  /** Artifacts in no release that is live at a settling site. */
  unsettled: NamedArtifact[];
  settled: SettledArtifacts;
  /** Unreadable sites, each with the reason as one sentence. */
  unread: string[];
}

const maxConcurrentReads = 8;

/** Separates artifacts that a settling site lists with the same id and checksum. */
export async function splitSettled(
  named: readonly NamedArtifact[],
  sites: readonly SettlingSite[],
): Promise<SplitArtifacts> {
  const split: SplitArtifacts = {
    unsettled: [...named],
    settled: { artifacts: 0, releases: [], sites: [] },
    unread: [],
  };
  for (const site of sites) {
    if (split.unsettled.length === 0) break;
    const listed = await listedAt(site, new Set(split.unsettled.map(({ version }) => version)));
    if (typeof listed === "string") {
      split.unread.push(`${site.name} could not be read: ${listed}.`);
      continue;
    }
    const found = split.unsettled.filter((artifact) => listed.has(keyOf(artifact)));
    if (found.length === 0) continue;
    const { settled } = split;
    settled.artifacts += found.length;
    settled.releases = [...new Set([...settled.releases, ...found.map(({ version }) => version)])].sort();
    settled.sites.push(site.name);
    split.unsettled = split.unsettled.filter((artifact) => !found.includes(artifact));
  }
  return split;
}

const keyOf = ({ id, checksum }: { id: number; checksum: string }) => `${id} ${checksum}`;

/** @returns keys of the listed artifacts, or the reason why the site cannot be read */
async function listedAt(
  site: SettlingSite,
  versions: ReadonlySet<string>,
): Promise<ReadonlySet<string> | string> {
  try {
    const store = await site.open();
    const documents = await inParallel([...versions], maxConcurrentReads, (version) =>
      store.read(`api/v1/release/${version}/index.json`),
    );
    const packages = documents.flatMap((bytes) =>
      bytes ? (JSON.parse(new TextDecoder().decode(bytes)) as ReleaseDocument).packages : [],
    );
    return new Set(packages.map(keyOf));
  } catch (error) {
    if (error instanceof RelcatError) return error.problems[0]?.message ?? error.message;
    if (error instanceof SyntaxError) return "a release document there is not JSON";
    throw error;
  }
}
