import { basename } from "node:path/posix";
import { type FoundFile, wholeFile } from "../evidence.ts";
import { isStoreBase, nameOf, storePathOf } from "./store-path.ts";

/** A downloadable file, named directly or through its folder. */
export function plainFile(path: string, realPath: string): FoundFile {
  const own = basename(realPath);
  // If a store path is itself a file, its hash is not part of the download name.
  const name = isStoreBase(own) && storePathOf(realPath)?.endsWith(`/${own}`) ? nameOf(own) : basename(path);
  return { name, paths: [path, realPath], store: storePathOf(realPath), at: wholeFile(path) };
}
