import { basename } from "node:path/posix";
import { type FoundFile, wholeFile } from "../evidence.ts";
import { isStoreBase, nameOf, storePathOf } from "./store-path.ts";

/** A file for download that was named itself, or lies in a folder that was. */
export function plainFile(path: string, realPath: string): FoundFile {
  const own = basename(realPath);
  // A store path can be a file: its hash is no part of what people download.
  const name = isStoreBase(own) && storePathOf(realPath)?.endsWith(`/${own}`) ? nameOf(own) : basename(path);
  return { name, paths: [path, realPath], store: storePathOf(realPath), at: wholeFile(path) };
}
