/**
 * Finds a worker's program next to its caller: a source file, a module of the library, or an entry of the
 * bundle.
 * @param caller its import.meta.url
 * @param name of the file, without its extension
 */
export const threadFile = (caller: string, name: string): URL =>
  new URL(`./${name}${caller.slice(caller.lastIndexOf("."))}`, caller);
