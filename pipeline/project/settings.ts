import { dirname, isAbsolute, join } from "node:path";
import { failure, throwErrors } from "../../shared/errors.ts";
import { configSchema, type KeyedSettings, type Settings } from "../documents/config.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { readIfPresent, requireFolder } from "../system/files.ts";
import { refuseScheme } from "../system/input-files.ts";
import { fetchDocument } from "../system/network/fetch.ts";
import { filesIn } from "./authored-files.ts";
import { readFeedKeys } from "./certificates.ts";
import { type UsableConfig, useConfig } from "./config.ts";
import type { Located } from "./document.ts";
import { readBytes } from "./parse.ts";

export { defaultPackageTypes, defaultPlatforms } from "../../shared/package-types.ts";

const maxConfigBytes = 1024 * 1024;

/** The part of a project that commands need that read no releases. Every open project has it. */
export interface ProjectSettings {
  /** The releases folder. */
  folder: string;
  config: KeyedSettings;
}

/** @throws RelcatError folder-missing; the problems of catalog.yaml */
export async function openSettings(folder: string): Promise<ProjectSettings> {
  requireFolder(folder);
  return { folder, config: await loadSettings(folder, undefined) };
}

/** Path or URL of the configuration. @param given --config */
export const catalogFile = (folder: string, given: string | undefined): string =>
  given ?? `${folder}/catalog.yaml`;

/**
 * Loads the settings from --config or the releases folder; without either, all fields have their defaults.
 * @throws RelcatError with every problem of catalog.yaml; input-missing; network
 */
export async function loadSettings(folder: string, given: string | undefined): Promise<KeyedSettings> {
  const file = catalogFile(folder, given);
  refuseScheme(file);
  const isUrl = /^https?:\/\//.test(file);
  const own = () => filesIn(folder).read("catalog.yaml");
  const bytes = isUrl
    ? await fetchDocument(file, maxConfigBytes)
    : given === undefined
      ? own()
      : readIfPresent(file);
  const hint = "Give catalog.yaml's path or https URL with --config.";
  if (!bytes && given !== undefined) throw failure("input-missing", `there is no file ${file}`, hint);
  // The file name's ending decides the format, so a query is removed.
  const { config, problems } = readSettings(folder, bytes, isUrl ? file.replace(/[?#].*$/, "") : file);
  const keys = readFeedKeys(folder);
  throwErrors([...problems, ...keys.problems]);
  return { ...config, feedKeys: keys.value };
}

export type ReadSettings = UsableConfig & Pick<Located<unknown>, "place">;

/**
 * @param releases the releases folder; relative paths of the settings start at the folder that contains it
 * @param bytes undefined: no file, so every field has its default
 * @param file its path, for messages; its ending decides the format
 */
export function readSettings(
  releases: string,
  bytes: Uint8Array | undefined,
  file = `${releases}/catalog.yaml`,
): ReadSettings {
  const emptyDocument = { file, value: {}, place: () => ({ file, line: 1, column: 1 }) };
  const use = (document: Located<unknown>): ReadSettings => {
    const usable = useConfig(document);
    return { ...usable, config: settingsIn(dirname(releases), usable.config), place: document.place };
  };
  if (!bytes) return use(emptyDocument);
  const { document, problems, raw } = readBytes(file, bytes, configSchema);
  // The file contains only comments.
  if (raw?.value === null) return use(emptyDocument);
  // Without the settings, rules would apply defaults that the project did not choose.
  if (!document && !raw)
    return { ...use(emptyDocument), problems, isConsequence: ({ at }) => at?.file !== file };
  const read = use(document ?? raw ?? emptyDocument);
  return { ...read, problems: [...problems, ...read.problems] };
}

/** Makes relative paths and programs independent of the current folder. @param folder the project's */
function settingsIn(folder: string, settings: Settings): Settings {
  if (folder === ".") return settings;
  // biome-ignore lint/plugin: the project's own configuration names it, and may name any folder.
  const inProject = (path: string) => (isAbsolute(path) ? path : join(folder, path));
  const keyIn = <Spec extends object>(spec: Spec): Spec =>
    "file" in spec ? { ...spec, file: inProject(String(spec.file)) } : spec;
  const { online, openpgp, packslip } = settings.trust;
  const sites = [...settings.sites].map(([name, site]) => {
    const { place } = site;
    const there = place.kind === "dir" ? { ...place, folder: inProject(place.folder) } : place;
    return [name, { ...site, folder, place: there }] as const;
  });
  const trust = {
    ...settings.trust,
    folder,
    online: keyIn(online),
    openpgp: openpgp.map(keyIn),
    packslip: keyIn(packslip),
  };
  return { ...settings, sites: new Map(sites), trust };
}

/** @throws RelcatError site-unknown if catalog.yaml has no site of that name */
export function siteNamed({ sites }: Pick<Settings, "sites">, name: string): SiteSettings {
  const site = sites.get(name);
  if (site) return site;
  const known = sites.size > 0 && `It has ${[...sites.keys()].join(", ")}.`;
  const hint = known || 'Name one there: sites: { prod: { url: "dir:/srv/catalog" } }';
  throw failure("site-unknown", `catalog.yaml has no site ${JSON.stringify(name)}`, hint);
}
