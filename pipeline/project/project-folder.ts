import { dirname, isAbsolute, join } from "node:path";
import type { Config } from "../documents/config.ts";

/**
 * Makes relative paths and programs of a configuration independent of the current folder.
 * @param releases the project's releases folder, relative to the current one
 */
export function configIn(releases: string, config: Config): Config {
  const folder = dirname(releases);
  if (folder === ".") return config;
  // biome-ignore lint/plugin: the project's own configuration names it, and may name any folder.
  const inProject = (path: string) => (isAbsolute(path) ? path : join(folder, path));
  const keyIn = <Spec extends object>(spec: Spec): Spec =>
    "file" in spec ? { ...spec, file: inProject(String(spec.file)) } : spec;
  const { online, openpgp } = config.trust;
  const sites = [...config.sites].map(([name, site]) => {
    const { place } = site;
    const there = place.kind === "dir" ? { ...place, folder: inProject(place.folder) } : place;
    return [name, { ...site, folder, place: there }] as const;
  });
  return {
    ...config,
    sites: new Map(sites),
    trust: {
      ...config.trust,
      folder,
      online: keyIn(online),
      openpgp: openpgp.map(keyIn),
    },
  };
}
