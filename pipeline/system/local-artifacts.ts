import { posix } from "node:path";
import { failure } from "../../shared/errors.ts";
import { pathInfo } from "./input-files.ts";

/** @throws RelcatError folder-missing */
export function requireArtifacts(folder: string): void {
  if (pathInfo(folder).kind === "folder") return;
  const hint = "Give the folder with the artifacts, as FILE or VERSION/FILE, with --artifacts.";
  throw failure("folder-missing", `there is no folder ${folder}`, hint);
}

/** Candidate paths of an artifact, likeliest first, because the folder may hold one release or several. */
export const artifactPaths = (folder: string, version: string, file: string): string[] => [
  posix.join(folder, version, file),
  posix.join(folder, file),
];

/** undefined: not in the folder. A pipe in its place is refused when it is read. */
export const artifactAtHand = (folder: string, version: string, file: string): string | undefined =>
  artifactPaths(folder, version, file).find((path) => !["missing", "folder"].includes(pathInfo(path).kind));
