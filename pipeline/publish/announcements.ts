import type { ReleaseDocument } from "../documents/site.ts";
import type { SiteIndex, SiteState } from "../documents/site-state.ts";
import type { SiteSettings } from "../documents/sites.ts";
import type { LocalBuild } from "./local-build.ts";

/** Both addresses of an index document must be purged. @returns one line of JSON per address */
export function purgeLines(baseUrl: string, paths: readonly string[]): string {
  const urls = paths.flatMap((path) => {
    const encoded = path.split("/").map(encodeURIComponent).join("/");
    const folder = encoded.replace(/(^|\/)index\.(html|json)$/, "$1");
    return folder === encoded ? [encoded] : [encoded, folder];
  });
  const lines = [...new Set(urls)].sort().map((path) => JSON.stringify({ url: `${baseUrl}/${path}` }));
  return lines.map((line) => `${line}\n`).join("");
}

/** Input of the after_publish hook: releases that are new at a site. */
export function announcement(
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
