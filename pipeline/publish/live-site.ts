import { isInYumFolder } from "../documents/feeds/paths.ts";
import { publishName, type SiteIndex, type SiteState } from "../documents/site-state.ts";
import type { Damage, SiteStore, SurveyRequest } from "../documents/site-store.ts";
import { isSigned } from "../trust/site-files.ts";
import { isKept } from "./changes.ts";

/** A site's current state compared with its last publish. */
export interface LiveSite {
  /** Index of the live files; undefined: the site is empty. */
  index: SiteIndex | undefined;
  /** Index of the last finished publish; undefined: none. */
  published: SiteIndex | undefined;
  /** Paths that relcat published. */
  owned: ReadonlySet<string>;
  /** Differences from the last finished publish; empty during a publish. */
  damage: Damage[];
}

export async function readLiveSite(
  store: SiteStore,
  state: SiteState | undefined,
  { hosting, isRead }: Pick<SurveyRequest, "hosting" | "isRead">,
): Promise<LiveSite> {
  const last = state?.history[0];
  const published = last && (await store.readIndex(last.files));
  const isDone = state?.state === "done";
  const begun =
    !isDone && state?.build ? await store.readIndex(publishName(state.build, state.run)) : undefined;
  const known = [published, begun].flatMap((index) => index ?? []);
  const newest = isDone ? last?.files : undefined;
  const { files, damage } = await store.survey({ known, newest, hosting, isRead });
  if (newest !== undefined && !published) damage.push({ path: `state/${newest}`, fault: "was missing" });
  const leaving = Object.assign({}, ...known.map((index) => index.leaving)) as SiteIndex["leaving"];
  const owned = new Set([...known.flatMap((index) => Object.keys(index.files)), ...Object.keys(leaving)]);
  // These were signed by a publisher that was killed before recording them, so they may be removed like
  // published files.
  for (const path of Object.keys(files))
    if (state && (isSigned(path) || isInYumFolder(path))) owned.add(path);
  for (const path of Object.keys(leaving)) {
    if (newest !== undefined && !isKept(path) && Object.hasOwn(files, path))
      damage.push({ path, fault: "was left over from a publish that was stopped" });
  }
  if (!state && Object.keys(files).length === 0) return { index: undefined, published, owned, damage };
  const build = state?.build ?? "0".repeat(64);
  return { index: { schema_version: 1, build, files, leaving }, published, owned, damage };
}
