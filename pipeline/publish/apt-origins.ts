import { failure } from "../../shared/errors.ts";
import type { SiteStore } from "../documents/site-store.ts";
import { type ChangedOrigin, changedOrigin } from "../site/feeds/apt-release.ts";
import type { LocalBuild } from "./local-build.ts";

/**
 * Refuses other values of Origin and Label in suites of apt than those at the site, because machines stop to update
 * until their administrator accepts them.
 * @param live paths of the site's files
 * @throws RelcatError origin-changed
 */
export async function requireSameOrigins(
  store: Pick<SiteStore, "read">,
  live: Readonly<Record<string, unknown>>,
  { files, read }: Pick<LocalBuild, "files" | "read">,
  site: string,
): Promise<void> {
  const changed: (ChangedOrigin & { path: string })[] = [];
  for (const { path } of files) {
    if (!/^dists\/[^/]+\/Release$/.test(path) || !Object.hasOwn(live, path)) continue;
    const bytes = await store.read(path);
    if (bytes)
      changed.push(...changedOrigin(text(bytes), text(read(path))).map((each) => ({ path, ...each })));
  }
  if (changed.length === 0) return;
  const all = changed.map(({ path, field, live, next }) => `${field} of ${path} is ${next}, and was ${live}`);
  throw failure(
    "origin-changed",
    `${site} has other names for apt: ${all.join("; ")}`,
    "apt-get update stops on every machine until its administrator accepts that, and unattended upgrades and pins no longer match. " +
      "Set feeds.apt.origin and feeds.apt.label in catalog.yaml to the earlier values. To change them on purpose: " +
      `relcat publish ${site} --allow-changed-origin`,
  );
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
