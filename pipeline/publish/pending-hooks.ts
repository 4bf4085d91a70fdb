import { isFolderAddress } from "../documents/relative-path.ts";
import { usualKey, usualOpenPgpKey } from "../documents/signers.ts";
import type { ReleaseDocument } from "../documents/site.ts";
import type { SiteIndex, SiteState } from "../documents/site-state.ts";
import { type Changes, writtenFiles } from "../documents/site-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { runHook } from "../system/hooks.ts";
import type { LocalBuild } from "./local-build.ts";
import type { Publishing } from "./open-publishing.ts";
import type { Turn } from "./turn.ts";

/**
 * Runs the hooks that are pending for the live build; a failed hook is repeated by the next run.
 * @param changes undefined: left over from an earlier run, so everything may have changed
 * @throws RelcatError hook-failed, site-taken
 */
export async function runPending(
  { site, local, project }: Pick<Publishing, "site" | "project"> & { local: LocalBuild },
  turn: Turn,
  changes: Changes | undefined,
): Promise<void> {
  const { trust } = project.config;
  const { state } = turn;
  const { pending } = state;
  if (!pending) return;
  // Hooks do not sign, so they do not get the keys.
  const named = [trust.online, ...trust.openpgp].flatMap((key) => ("env" in key ? key.env : []));
  const hidden = [usualKey, usualOpenPgpKey, ...named];
  const run = { folder: site.folder, hidden };
  if (pending.purge && site.purge) {
    const files = changes ? writtenFiles(changes) : local.files;
    const cached = files.filter(({ isImmutable }) => !isImmutable).map(({ path }) => path);
    const paths = [...cached, ...(changes?.removed ?? [])];
    const served = paths.filter((path) => !isFolderAddress(path));
    await runHook(`the purge of ${site.name}`, site.purge, purgeLines(site.baseUrl, served), run);
  }
  if (pending.announce.length > 0 && site.afterPublish) {
    const text = announcement(site, local, state, pending.announce);
    await runHook(`after_publish of ${site.name}`, site.afterPublish, text, run);
  }
  await turn.write({ ...state, pending: null });
}

/** Both addresses of an index document must be purged. @returns one line of JSON per address */
function purgeLines(baseUrl: string, paths: readonly string[]): string {
  const urls = paths.flatMap((path) => {
    const encoded = path.split("/").map(encodeURIComponent).join("/");
    const folder = encoded.replace(/(^|\/)index\.(html|json)$/, "$1");
    return folder === encoded ? [encoded] : [encoded, folder];
  });
  const lines = [...new Set(urls)].sort().map((path) => JSON.stringify({ url: `${baseUrl}/${path}` }));
  return lines.map((line) => `${line}\n`).join("");
}

/** Input of the after_publish hook: releases that are new at a site. */
function announcement(
  { name, baseUrl }: SiteSettings,
  local: LocalBuild,
  { build, previous, commit }: SiteState,
  versions: readonly string[],
): string {
  const known = new Set(local.files.map(({ path }) => path));
  const releases = versions.flatMap((version) => {
    const path = `api/v1/release/${version}/index.json`;
    if (!known.has(path)) return [];
    const document = JSON.parse(new TextDecoder().decode(local.read(path))) as ReleaseDocument;
    const { date, summary, packages } = document;
    return [{ version, date, summary, packages: packages.length, url: `${baseUrl}/releases/${version}/` }];
  });
  return `${JSON.stringify({ schema_version: 1, site: name, build, previous, commit, releases })}\n`;
}

/** Versions that become visible for the first time. */
export function announced(
  state: SiteState | undefined,
  local: LocalBuild,
  live: SiteIndex | undefined,
): string[] {
  if (!state || state.history.length === 0) return [];
  return local.files.flatMap(({ path }) => {
    const version = /^api\/v1\/release\/(\d[^/]*)\/index\.json$/.exec(path)?.[1];
    return version !== undefined && !Object.hasOwn(live?.files ?? {}, path) ? [version] : [];
  });
}
