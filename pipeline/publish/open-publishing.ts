import { failure } from "../../shared/errors.ts";
import type { SiteStore, StoredState } from "../documents/site-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { type ProjectSettings, siteNamed } from "../project/settings.ts";
import { readBuild } from "../trust/built-site.ts";
import { holdOn } from "./refusals.ts";
import type { SettlingSite } from "./require-artifacts.ts";
import { metadataOf } from "./stores/kept-build.ts";
import { type Publisher, thisPublisher } from "./stores/publishers.ts";
import { openSite } from "./stores/site-store.ts";
import type { OnStep } from "./turn.ts";

/** Secrets and the process id, with which the store of a site is opened. */
export interface SiteAccess {
  environment: Readonly<Record<string, string | undefined>>;
  pid: number;
}

/** Options of publish, rollback and refresh. */
export interface PublishOptions extends Pick<SiteAccess, "environment"> {
  dryRun?: boolean;
  releaseHold?: boolean;
  /** Read every file at the site, and rewrite those that changed since they were published. */
  repair?: boolean;
  /** Imported records name files that existed before relcat, so these are not checked. */
  artifactsKnown?: boolean;
  /** Reason for publishing ledger lines that the base lacks; stored in the site's history. */
  allowUnpushed?: string | undefined;
  /** Reason for publishing files that are not committed; stored in the site's history. */
  allowUncommitted?: string | undefined;
  /** Publish package repositories under other names than the live ones. */
  allowChangedOrigin?: boolean;
  /** Milliseconds since 1970; called repeatedly, because publishing takes time. */
  now: () => number;
  onFile?: (done: number, all: number) => void;
  onStep?: OnStep;
}

/** A site of a project, opened by the command that works on it. */
export interface Publishing {
  project: ProjectSettings;
  site: SiteSettings;
  store: SiteStore;
  publisher: Publisher;
  /** Sites with permanent content, for comparison by a staging site. */
  settlingSites: readonly SettlingSite[];
}

/** @throws RelcatError site-unknown */
export async function openPublishing(
  project: ProjectSettings,
  name: string,
  { environment, pid }: SiteAccess,
): Promise<Publishing> {
  const site = siteNamed(project.config, name);
  return {
    project,
    site,
    store: await openSite(site, environment, pid),
    publisher: thisPublisher(environment, pid),
    settlingSites: [...project.config.sites.values()]
      .filter(({ settles }) => settles)
      .map((other) => ({ name: other.name, open: () => openSite(other, environment, pid) })),
  };
}

/** State of a site. @throws RelcatError site-empty */
export async function stateOf({ store, site: { name } }: Publishing): Promise<StoredState> {
  const stored = await store.readState();
  if (stored) return stored;
  throw failure("site-empty", `nothing was published to ${name} yet`, `Start with: relcat publish ${name}`);
}

/** State of a site. @throws RelcatError site-unknown, site-empty */
export const readSiteState = async (project: ProjectSettings, name: string, access: SiteAccess) =>
  (await stateOf(await openPublishing(project, name, access))).state;

/** The metadata of a site named in catalog.yaml. @throws RelcatError site-unknown */
export const metadataAtSite = async (project: ProjectSettings, name: string, access: SiteAccess) =>
  metadataOf((await openPublishing(project, name, access)).store);

/** The hold that keeps the build in `out` from a site; null: none does. @throws RelcatError site-unknown */
export async function holdAgainst(project: ProjectSettings, name: string, out: string, access: SiteAccess) {
  if (!siteNamed(project.config, name).settles) return null;
  const { store } = await openPublishing(project, name, access);
  const stored = await store.readState();
  return stored ? holdOn(readBuild(out).document, stored.state) : null;
}
