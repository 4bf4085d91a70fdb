import { failure, throwErrors } from "../../shared/errors.ts";
import type { Config } from "../documents/config.ts";
import { readIfPresent, requireFolder } from "../system/files.ts";
import { fetchDocument } from "../system/network/fetch-document.ts";
import { refuseScheme } from "../system/read-input.ts";
import { filesIn } from "./authored-files.ts";
import { readFeedKeys } from "./feed-keys.ts";
import { configIn } from "./project-folder.ts";
import { readConfig } from "./read-config.ts";

export { defaultPackageTypes, defaultPlatforms } from "../../shared/package-types.ts";

const maxConfigBytes = 1024 * 1024;

/** Path or URL of the configuration. @param given --config */
export const catalogFile = (folder: string, given: string | undefined): string =>
  given ?? `${folder}/catalog.yaml`;

/**
 * Loads the configuration from --config or the releases folder; without either, all fields have their
 * defaults.
 * @throws RelcatError with every problem of catalog.yaml; input-missing; network
 */
export async function loadConfiguration(folder: string, given: string | undefined): Promise<Config> {
  const file = catalogFile(folder, given);
  refuseScheme(file);
  const isUrl = /^https?:\/\//.test(file);
  const own = () => filesIn(folder).read("catalog.yaml");
  const bytes = isUrl
    ? await fetchDocument(file, maxConfigBytes)
    : given === undefined
      ? own()
      : readIfPresent(file);
  if (!bytes && given !== undefined)
    throw failure(
      "input-missing",
      `there is no file ${file}`,
      "Give catalog.yaml's path or https URL with --config.",
    );
  // The file name's ending decides the format, so a query is removed.
  const { config, problems } = readConfig(isUrl ? file.replace(/[?#].*$/, "") : file, bytes);
  const { keys, problems: keyProblems } = readFeedKeys(folder, filesIn(folder));
  throwErrors([...problems, ...keyProblems]);
  return configIn(folder, { ...config, feedKeys: keys });
}

/**
 * Loads only the configuration and no other file.
 * @throws RelcatError folder-missing; the problems of catalog.yaml
 */
export async function loadConfig(folder: string): Promise<Config> {
  requireFolder(folder);
  return loadConfiguration(folder, undefined);
}
