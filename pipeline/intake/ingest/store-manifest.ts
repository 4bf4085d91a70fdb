import { failure } from "../../../shared/errors.ts";
import { readIfPresent, replaceDurably } from "../../system/files.ts";
import { type CommandContext, withWriteLock } from "../../system/lock.ts";
import { type IngestContext, type Ingested, type IngestRequest, ingestBuild } from "./ingest.ts";
import { refuseMisplaced, sameBytes } from "./other-manifest.ts";
import { requireRelease } from "./release-folder.ts";

export { suggestForInputs } from "./ingest.ts";
export { openVersions } from "./release-folder.ts";

export interface Delivered {
  ingested: Ingested;
  /** undefined: the caller only wanted the result, without a file. */
  file: string | undefined;
  result: "written" | "replaced" | "unchanged";
}

/** Destination of a manifest: its release, a given file, or only the caller. */
export type Destination = { kind: "release" } | { kind: "file"; path: string } | { kind: "caller" };

/**
 * Files are hashed before taking the lock, because an image may take minutes and others need not wait.
 * @throws RelcatError with every problem of the inputs; folder-missing; lock-held; artifact-conflict
 */
export async function ingest(
  folder: string,
  request: IngestRequest,
  destination: Destination,
  context: Pick<CommandContext, "pid" | "onWait" | "dryRun"> & IngestContext,
): Promise<Delivered> {
  const elsewhere = destination.kind !== "release";
  const ingested = await ingestBuild(folder, { ...request, elsewhere }, context);
  ingested.warnings.push(...(await sameBytes(folder, ingested.manifest)));
  if (destination.kind === "caller") return { ingested, file: undefined, result: "written" };
  if (destination.kind === "file") {
    await refuseMisplaced(folder, destination.path, ingested, request);
    return { ingested, file: destination.path, result: put(destination.path, ingested, context.dryRun) };
  }
  return withWriteLock(folder, context, async () => {
    requireRelease(folder, ingested.version); // The release may have been renamed in the meantime.
    const file = `${folder}/${ingested.version}/manifests/${ingested.fileName}`;
    await refuseMisplaced(folder, file, ingested, request);
    return { ingested, file, result: put(file, ingested, context.dryRun) };
  });
}

function put(file: string, { text }: Ingested, dryRun?: boolean): Delivered["result"] {
  const bytes = new TextEncoder().encode(text);
  const present = readIfPresent(file);
  if (present && Buffer.compare(present, bytes) === 0) return "unchanged";
  if (bytes.length > maxManifestBytes) {
    const message = `the manifest would have ${bytes.length} bytes, expected at most ${maxManifestBytes}`;
    throw failure("file-size", message, "Ingest the job's artifacts in several runs.");
  }
  if (!dryRun) replaceDurably(file, bytes);
  return present ? "replaced" : "written";
}

/** The limit of every command that reads manifests. */
const maxManifestBytes = 4 * 1024 * 1024;
