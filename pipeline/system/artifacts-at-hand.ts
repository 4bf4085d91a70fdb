import { posix } from "node:path";
import { failure } from "../errors.ts";
import { lookAt } from "./input-files.ts";

/** @throws RelcatError folder-missing */
export function requireArtifacts(folder: string): void {
  if (lookAt(folder).kind === "folder") return;
  const hint = "Give the folder with the artifacts, as FILE or VERSION/FILE, with --artifacts.";
  throw failure("folder-missing", `there is no folder ${folder}`, hint);
}

/** Where an artifact may lie in a folder with those of one release or of several, the likeliest first. */
export const artifactPaths = (folder: string, version: string, file: string): string[] => [
  posix.join(folder, version, file),
  posix.join(folder, file),
];

/** undefined: it is not there. */
export const artifactAtHand = (folder: string, version: string, file: string): string | undefined =>
  artifactPaths(folder, version, file).find((path) => lookAt(path).kind === "file");
