import { relative, resolve } from "node:path";
import type { Host } from "../terminal/host.ts";

/** Whether a manifest is where `check` reads it, however its path was given. */
export const isInReleases = (file: string, { releases }: Host): boolean =>
  !/^\.\.([/\\]|$)/.test(relative(resolve(releases), resolve(file)));

/** What to do with one that is not. */
export const handOver = (file: string, version: string, { releases }: Host): string =>
  `hand ${file} over, into ${releases}/${version}/manifests/`;
