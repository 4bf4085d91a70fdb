import { basename, dirname, resolve } from "node:path";
import { type Manifest, manifestSchema } from "../documents/manifest.ts";
import { failure } from "../errors.ts";
import { readBytes } from "../project/parse.ts";
import { listFiles, readPresent } from "../system/files.ts";
import { inProject } from "../system/project-links.ts";
import type { Ingested } from "./ingest/ingest.ts";

/**
 * A job that runs once with --out and once without leaves two manifests of the same files. They agree until
 * `upload` adds an address to only one of them.
 * @param file about to be written
 * @throws RelcatError artifact-conflict
 */
export async function refuseSecondManifest(folder: string, file: string, ingested: Ingested): Promise<void> {
  const place = `${folder}/${ingested.version}/manifests`;
  if (dirname(resolve(file)) !== resolve(place)) return;
  const names = (await listFiles(place, inProject(folder))).filter(
    (name) => /\.(json|ya?ml)$/.test(name) && name !== basename(file) && !(isOfJob(name) && isOfJob(file)),
  );
  for (const name of names) {
    const other = `${place}/${name}`;
    const read = readBytes(other, readPresent(other), manifestSchema).document;
    if (read && filesOf(read.value) === filesOf(ingested.manifest)) throw second(other);
  }
}

/** Different jobs may share artifacts, each in its own manifest. */
const isOfJob = (path: string): boolean => /-[0-9a-f]{8}\.json$/.test(path);

const filesOf = ({ artifacts }: Manifest): string =>
  artifacts
    .map(({ file, name }) => `${file ?? name}\n`)
    .sort()
    .join("");

const second = (other: string) =>
  failure(
    "artifact-conflict",
    `${other} has the same artifacts already, and a second manifest would conflict with it`,
    `Write into it with --out ${other}, or remove it first.`,
  );
