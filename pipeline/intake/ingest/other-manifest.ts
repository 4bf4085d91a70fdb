import { basename, dirname, resolve } from "node:path";
import { failure, type Problem, throwErrors } from "../../../shared/errors.ts";
import { type Manifest, manifestSchema } from "../../documents/manifest.ts";
import type { Located } from "../../project/document.ts";
import { readBytes } from "../../project/parse.ts";
import { inProject, readPresent } from "../../system/files.ts";
import { listFiles } from "../../system/folders.ts";
import type { Ingested, IngestRequest } from "./ingest.ts";
import { ledgerIn, openVersions, refuseLateFiles } from "./release-folder.ts";

/**
 * A job that runs once with --out and once without leaves two manifests of the same files. They agree until
 * `upload` adds an address to only one of them. @throws RelcatError artifact-conflict, release-cut
 */
export async function refuseMisplaced(
  folder: string,
  file: string,
  { version, manifest }: Ingested,
  { addToCut }: IngestRequest,
): Promise<void> {
  if (dirname(resolve(file)) !== resolve(manifestsOf(folder, version))) return;
  if (!addToCut) refuseLateFiles(folder, manifest);
  const isOther = (name: string) => name !== basename(file) && !(isOfJob(name) && isOfJob(file));
  const files = filesOf(manifest);
  for await (const { name, path, document } of manifestsIn(folder, version)) {
    if (!document || !isOther(name) || filesOf(document.value) !== files) continue;
    const message = `${path} has the same artifacts already, and a second manifest would conflict with it`;
    throw failure("artifact-conflict", message, `Write into it with --out ${path}, or remove it first.`);
  }
}

/** The manifests of a release. @throws RelcatError with the problems of those that cannot be read */
export async function releaseManifests(folder: string, version: string): Promise<Located<Manifest>[]> {
  const read = await Array.fromAsync(manifestsIn(folder, version));
  throwErrors(read.flatMap(({ problems }) => problems));
  return read.flatMap(({ document }) => document ?? []);
}

/** Warns about files that another release has, under any name. */
export async function sameBytes(folder: string, { release, artifacts }: Manifest): Promise<Problem[]> {
  const ledger = ledgerIn(folder);
  const known = new Map<string, string>();
  for (const version of openVersions(folder).filter((version) => version !== release))
    for await (const { document } of manifestsIn(folder, version))
      for (const { file, name, sha256 } of document?.value.artifacts ?? [])
        known.set(sha256, `${file ?? name} of ${version}`);
  for (const { add, retraction } of ledger.byId.values()) {
    const withdrawn = retraction ? ", which was withdrawn" : "";
    if (add.version !== release) known.set(add.checksum, `${add.file} of ${add.version}${withdrawn}`);
  }
  return artifacts.flatMap(({ file, name, sha256 }) => {
    const other = known.get(sha256);
    const message = `${file ?? name} of ${release} has the same bytes as ${other}`;
    const hint = "Was it built again? Nothing needs to change if both releases have this file.";
    return other === undefined ? [] : [{ code: "same-bytes", severity: "warning", message, hint }];
  });
}

async function* manifestsIn(folder: string, version: string) {
  const place = manifestsOf(folder, version);
  for (const name of await listFiles(place, inProject(folder))) {
    if (!/\.(json|ya?ml)$/.test(name)) continue;
    const path = `${place}/${name}`;
    yield { name, path, ...readBytes(path, readPresent(path), manifestSchema) };
  }
}

const manifestsOf = (folder: string, version: string): string => `${folder}/${version}/manifests`;

/** Different jobs may share artifacts, each in its own manifest. */
const isOfJob = (path: string): boolean => /-[0-9a-f]{8}\.json$/.test(path);

const filesOf = ({ artifacts }: Manifest): string =>
  artifacts
    .map(({ file, name }) => file ?? name)
    .sort()
    .join("\n");
