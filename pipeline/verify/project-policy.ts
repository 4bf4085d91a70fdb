import { resolve } from "node:path";
import type { Config } from "../documents/config.ts";
import { exists } from "../system/files.ts";
import { liveFolder } from "./stores/site-reader.ts";

/** The project whose policy counts for a site, or why there is none. */
export type ProjectPolicy =
  | { project: { folder: string; catalog: string; config: Config } }
  | { project: undefined; reason: string };

/**
 * Whose policy the artifacts of a place are held against: that of the project here, and only where it names the place as one
 * of its sites, by name, by address or by folder. A foreign site is nothing that its signers have to do with.
 * @param config undefined: there is one that cannot be read
 */
export function projectPolicy(folder: string, word: string, config: Config | undefined): ProjectPolicy {
  const catalog = `${folder}/catalog.yaml`;
  const none = (reason: string) => ({ project: undefined, reason });
  if (!exists(catalog)) return none(`there is no ${catalog} here`);
  if (!config) return none(`${catalog} cannot be read`);
  if (!isSite(word, config)) return none(`${word} is no site of ${catalog}`);
  if (config.policies.size === 0) return none(`${catalog} names no signers`);
  return { project: { folder, catalog, config } };
}

/** Whether a project has a place as one of its sites, by name, by address or by folder. */
export function isSite(word: string, { sites }: Config): boolean {
  const folder = resolve(word.replace(/^dir:/, ""));
  return [...sites.values()].some(
    ({ name, baseUrl, place }) =>
      name === word ||
      baseUrl === word.replace(/\/+$/, "") ||
      (place.kind === "dir" &&
        [place.folder, liveFolder(place.folder)].map((path) => resolve(path)).includes(folder)),
  );
}
