import { join } from "node:path";
import { failure } from "../../shared/errors.ts";
import type { AuthoredFiles } from "../project/authored-files.ts";
import { pathsOfRelease } from "../project/parse.ts";
import { type Cache, cacheIn } from "./cache.ts";
import type { Journal } from "./journal.ts";

/**
 * A journal for a build that neither uses nor stores anything.
 * @param work a temporary folder, created when it is needed
 */
export function noJournal(files: AuthoredFiles, work: string, pid: number): Journal {
  let store: Cache | undefined;
  const slices = (): Cache => {
    store ??= cacheIn(join(work, "slices"), pid, 0, (reason) => {
      throw failure("file-access", reason, "Check the permissions of the site's folder, and the free space.");
    });
    if (!store) throw new Error(`nothing can be written in ${work}`);
    return store;
  };
  const ignore = () => undefined;
  return {
    slices: {
      get: (key) => slices().get(key),
      put: (key, bytes) => slices().put(key, bytes),
      has: (key) => slices().has(key),
    },
    begin: ignore,
    release: async () => undefined,
    read: async (next) => ({
      contents: await files.readAll(pathsOfRelease(next.files)),
      // The version is enough, because no other build compares this key.
      keyOf: () => next.files.version,
    }),
    group: ignore,
    sibling: ignore,
    noteRelease: ignore,
    save: ignore,
    discard: ignore,
    close: ignore,
  };
}
