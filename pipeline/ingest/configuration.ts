import { type Config, configSchema } from "../documents/config.ts";
import { releaseSchema, type WrittenRelease } from "../documents/release.ts";
import { failure, throwErrors } from "../errors.ts";
import { fetchDocument } from "../outside/fetch-document.ts";
import { exists, readIfPresent } from "../outside/files.ts";
import { normalizeConfig, useConfig } from "../stages/config.ts";
import type { Located } from "../stages/document.ts";
import { readBytes } from "../stages/parse.ts";

const maxConfigBytes = 1024 * 1024;

/**
 * The configuration of --config, or of the releases folder; without either every field has its default.
 * @throws RelcatError with every problem of catalog.yaml; input-missing; network
 */
export async function loadConfiguration(folder: string, given: string | undefined): Promise<Config> {
  const file = given ?? `${folder}/catalog.yaml`;
  const isUrl = /^https?:\/\//.test(file);
  const bytes = isUrl ? await fetchDocument(file, maxConfigBytes) : readIfPresent(file);
  if (!bytes && given !== undefined)
    throw failure(
      "input-missing",
      `there is no file ${file}`,
      "Give catalog.yaml's path or https URL with --config.",
    );
  if (!bytes) return normalizeConfig({});
  // Documents are read by the ending of their name, which a query may hide.
  const { document, problems, raw } = readBytes(
    isUrl ? file.replace(/[?#].*$/, "") : file,
    bytes,
    configSchema,
  );
  if (raw?.value === null) return normalizeConfig({}); // Comments only.
  const usable = useConfig(document ?? { file, value: {}, place: () => ({ file, line: 1, column: 1 }) });
  throwErrors([...problems, ...usable.problems]);
  return usable.config;
}

/** release.yaml of a version, where it can be read; what is wrong with it is for check to say. */
export function readRelease(folder: string, version: string): Located<WrittenRelease> | undefined {
  const file = `${folder}/${version}/release.yaml`;
  const bytes = readIfPresent(file);
  return bytes && readBytes(file, bytes, releaseSchema).document;
}

/** @throws RelcatError folder-missing when the release was not opened */
export function requireRelease(folder: string, version: string): void {
  if (exists(`${folder}/${version}`)) return;
  const hint = `Open it with relcat new ${version.slice(0, 5)}, or write the manifest elsewhere with --out FILE.`;
  throw failure("folder-missing", `there is no release ${version} in ${folder}/`, hint);
}
