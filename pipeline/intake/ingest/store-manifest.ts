import { failure } from "../../errors.ts";
import { requireRelease } from "../../project/configuration.ts";
import { readIfPresent, replaceDurably } from "../../system/files.ts";
import { withLock } from "../../system/lock.ts";
import type { Surroundings } from "../../system/surroundings.ts";
import { refuseSecondManifest } from "../other-manifest.ts";
import { type Ingested, type IngestRequest, type IngestSurroundings, ingestBuild } from "./ingest.ts";

/** What became of the manifest's file. */
export interface Delivered {
  ingested: Ingested;
  /** undefined: it was only asked for, not written. */
  file: string | undefined;
  result: "written" | "replaced" | "unchanged";
}

/** Where a manifest goes: into its release, into a file, or only back to the caller. */
export type Destination = { kind: "release" } | { kind: "file"; path: string } | { kind: "caller" };

/**
 * Writes what a build left behind as a manifest. Files are read before the lock is taken: hashing an image may
 * take minutes, and nobody else needs to wait for it.
 * @throws RelcatError with every problem of the inputs; folder-missing; lock-held; artifact-conflict
 */
export async function ingest(
  folder: string,
  request: IngestRequest,
  destination: Destination,
  surroundings: Pick<Surroundings, "pid" | "onWait"> & IngestSurroundings,
): Promise<Delivered> {
  const elsewhere = destination.kind !== "release";
  const ingested = await ingestBuild(folder, { ...request, elsewhere }, surroundings);
  if (destination.kind === "caller") return { ingested, file: undefined, result: "written" };
  if (destination.kind === "file") {
    await refuseSecondManifest(folder, destination.path, ingested);
    return { ingested, file: destination.path, result: put(destination.path, ingested) };
  }
  return withLock(folder, surroundings.pid, surroundings.onWait, async () => {
    requireRelease(folder, ingested.version); // Somebody may have renamed it meanwhile.
    const file = `${folder}/${ingested.version}/manifests/${ingested.fileName}`;
    await refuseSecondManifest(folder, file, ingested);
    return { ingested, file, result: put(file, ingested) };
  });
}

function put(file: string, { text }: Ingested): Delivered["result"] {
  const bytes = new TextEncoder().encode(text);
  const present = readIfPresent(file);
  if (present && Buffer.compare(present, bytes) === 0) return "unchanged";
  if (bytes.length > maxManifestBytes) throw tooLarge(bytes.length);
  replaceDurably(file, bytes);
  return present ? "replaced" : "written";
}

/** What every command that reads the manifest again accepts. */
const maxManifestBytes = 4 * 1024 * 1024;

const tooLarge = (size: number) =>
  failure(
    "file-size",
    `the manifest would have ${size} bytes, expected at most ${maxManifestBytes}`,
    "Ingest the job's artifacts in several calls.",
  );
