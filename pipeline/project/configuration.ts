import type { Config } from "../documents/config.ts";
import { releaseSchema, type WrittenRelease } from "../documents/release.ts";
import { failure, throwErrors } from "../errors.ts";
import { nextVersion } from "../intake/authoring/open-release.ts";
import { readLedger } from "../ledger/ledger.ts";
import { exists, readIfPresent } from "../system/files.ts";
import { listFolders } from "../system/folders.ts";
import { fetchDocument } from "../system/network/fetch-document.ts";
import { refuseScheme } from "../system/read-input.ts";
import { filesIn } from "./authored-files.ts";
import type { Located } from "./document.ts";
import { readBytes } from "./parse.ts";
import { configIn } from "./project-folder.ts";
import { readConfig } from "./read-config.ts";

const maxConfigBytes = 1024 * 1024;

/** Path or URL of the configuration. @param given --config */
export const catalogFile = (folder: string, given: string | undefined): string =>
  given ?? `${folder}/catalog.yaml`;

/**
 * The configuration of --config, or of the releases folder; without either every field has its default.
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
  // Documents are read by the ending of their name, which a query may hide.
  const { config, problems } = readConfig(isUrl ? file.replace(/[?#].*$/, "") : file, bytes);
  throwErrors(problems);
  return configIn(folder, config);
}

/** release.yaml of a version, where it can be read; what is wrong with it is for check to say. */
export function readRelease(folder: string, version: string): Located<WrittenRelease> | undefined {
  const file = `${folder}/${version}/release.yaml`;
  const bytes = filesIn(folder).read(`${version}/release.yaml`);
  return bytes && readBytes(file, bytes, releaseSchema).document;
}

/** @throws RelcatError version-unknown when the release was not opened */
export function requireRelease(folder: string, version: string): void {
  // biome-ignore lint/plugin: the version is checked.
  if (exists(`${folder}/${version}`)) return;
  const known = exists(folder) ? versionsIn(folder) : [];
  const month = version.slice(0, 5);
  const next = nextVersion(month, known);
  const opens = `relcat new ${month}${next === version ? "" : ` opens ${next}`}`;
  const ways = next === version ? `Open it with ${opens}` : `${shown(known)}${opens}`;
  const hint = `${ways}, or write the manifest elsewhere with --out FILE.`;
  throw failure("version-unknown", `there is no release ${version} in ${folder}/`, hint);
}

/** Those that are open or were ever cut: no number is given twice. */
function versionsIn(folder: string): string[] {
  const bytes = filesIn(folder).read("ledger.jsonl");
  const { versions } = readLedger({ file: "ledger.jsonl", text: new TextDecoder().decode(bytes) }).ledger;
  const names = listFolders(folder).filter((name) => /^\d{2}\.\d{2}\.\d{3}$/.test(name));
  return [...new Set([...names, ...versions])].sort();
}

const shown = (versions: readonly string[]) =>
  versions.length === 0
    ? ""
    : `${versions.length > 5 ? "The newest are" : "There is"} ${versions.slice(-5).join(", ")}; `;
