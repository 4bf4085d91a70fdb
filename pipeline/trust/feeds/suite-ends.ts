import { dateOf } from "../roles.ts";
import { readDatedRelease } from "./release-file.ts";

/** When apt refuses each signed suite: the path of its Release file, and an ISO 8601 date. */
export const suiteEnds = (
  files: readonly { path: string }[],
  read: (path: string) => Uint8Array,
): (readonly [path: string, ends: string])[] =>
  files.flatMap(({ path }) => {
    if (!/^dists\/[^/]+\/Release$/.test(path)) return [];
    const dated = readDatedRelease(new TextDecoder().decode(read(path)));
    return dated ? [[path, dateOf(dated.validUntil)] as const] : [];
  });
