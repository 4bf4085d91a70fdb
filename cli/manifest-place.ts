import { relative, resolve } from "node:path";
import { releasesFolder } from "./host.ts";

/** Whether a manifest is where `check` reads it, however its path was given. */
export const isInReleases = (file: string): boolean =>
  !/^\.\.([/\\]|$)/.test(relative(resolve(releasesFolder), resolve(file)));

/** What to do with one that is not. */
export const handOver = (file: string, version: string): string =>
  `hand ${file} over, into ${releasesFolder}/${version}/manifests/`;
