import { basename, dirname, resolve } from "node:path";
import { type Manifest, manifestSchema } from "../documents/manifest.ts";
import { failure } from "../errors.ts";
import { readBytes } from "../project/parse.ts";
import { readPresent } from "../system/files.ts";
import { listFiles } from "../system/folders.ts";
import { inProject } from "../system/project-links.ts";
import type { Ingested } from "./ingest/ingest.ts";

/**
 * A job that runs once with --out and once without leaves two manifests of the same files. They agree until
 * `upload` adds an address to only one of them.
 * @param file about to be written
 * @throws RelcatError artifact-conflict
 */
export async function refuseSecondManifest(folder: string, file: string, ingested: Ingested): Promise<void> {
  const { version, manifest } = ingested;
  if (dirname(resolve(file)) !== resolve(manifestsOf(folder, version))) return;
  const isOther = (name: string) => name !== basename(file) && !(isOfJob(name) && isOfJob(file));
  const other = await findManifest(folder, version, filesOf(manifest), isOther);
  if (other !== undefined) throw second(other);
}

/** The manifest of a release folder that lists exactly these files. @param isWanted selects manifests by name */
async function findManifest(
  folder: string,
  version: string,
  files: readonly string[],
  isWanted: (name: string) => boolean,
): Promise<string | undefined> {
  const sorted = files.toSorted().join("\n");
  for await (const { name, path, listed } of manifestsIn(folder, version))
    if (isWanted(name) && listed.toSorted().join("\n") === sorted) return path;
  return undefined;
}

/** Those of the files that no manifest in the release's folder lists. */
export async function unlistedFiles(
  folder: string,
  version: string,
  files: readonly string[],
): Promise<string[]> {
  const known = new Set<string>();
  for await (const { listed } of manifestsIn(folder, version)) for (const file of listed) known.add(file);
  return files.filter((file) => !known.has(file));
}

/** Manifests that can be read, with the files that they list. */
async function* manifestsIn(folder: string, version: string) {
  const place = manifestsOf(folder, version);
  for (const name of await listFiles(place, inProject(folder))) {
    if (!/\.(json|ya?ml)$/.test(name)) continue;
    const path = `${place}/${name}`;
    const read = readBytes(path, readPresent(path), manifestSchema).document;
    if (read) yield { name, path, listed: filesOf(read.value) };
  }
}

const manifestsOf = (folder: string, version: string): string => `${folder}/${version}/manifests`;

/** Different jobs may share artifacts, each in its own manifest. */
const isOfJob = (path: string): boolean => /-[0-9a-f]{8}\.json$/.test(path);

const filesOf = ({ artifacts }: Manifest): string[] => artifacts.map(({ file, name }) => file ?? name);

const second = (other: string) =>
  failure(
    "artifact-conflict",
    `${other} has the same artifacts already, and a second manifest would conflict with it`,
    `Write into it with --out ${other}, or remove it first.`,
  );
