import { resolve } from "node:path";
import type { Settings } from "../documents/config.ts";
import { exists } from "../system/files.ts";
import { liveFolder } from "./stores/site-reader.ts";

interface OwnProject {
  folder: string;
  catalog: string;
  config: Settings;
}

/** The project whose policy applies, or why there is none. Without signers, only its manifests apply. */
export type ProjectPolicy =
  | { project: OwnProject }
  | { project: undefined; reason: string; manifests?: OwnProject };

/** A policy applies only to sites of its project, because its signers have nothing to do with others. */
export function projectPolicy(folder: string, word: string, config: Settings | undefined): ProjectPolicy {
  const catalog = `${folder}/catalog.yaml`;
  const none = (reason: string) => ({ project: undefined, reason });
  if (!exists(catalog)) return none(`there is no ${catalog} here`);
  if (!config) return none(`${catalog} cannot be read`);
  if (!isSite(word, config)) return none(`${word} is not a site of ${catalog}`);
  const own = { folder, catalog, config };
  return config.policies.size === 0
    ? { ...none(`${catalog} names no signers`), manifests: own }
    : { project: own };
}

export function isSite(word: string, { sites }: Settings): boolean {
  const folder = resolve(word.replace(/^dir:/, ""));
  return [...sites.values()].some(
    ({ name, baseUrl, place }) =>
      name === word ||
      baseUrl === word.replace(/\/+$/, "") ||
      (place.kind === "dir" &&
        [place.folder, liveFolder(place.folder)].map((path) => resolve(path)).includes(folder)),
  );
}
