import { relative, resolve } from "node:path";
import type { Host } from "../terminal/host.ts";

/** True if `check` would read the manifest at this path. */
export const isInReleases = (file: string, { releases }: Host): boolean =>
  !/^\.\.([/\\]|$)/.test(relative(resolve(releases), resolve(file)));

/** Hint for a manifest outside the releases folder. */
export const handOver = (file: string, version: string, { releases }: Host): string =>
  `hand ${file} over, into ${releases}/${version}/manifests/`;
