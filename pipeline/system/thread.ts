/**
 * Where the program of another thread lies: beside its caller, as a source, as a module of the library, or as an entry
 * of the bundle.
 * @param caller its import.meta.url
 * @param name of the file, without its ending
 */
export const threadFile = (caller: string, name: string): URL =>
  new URL(`./${name}${caller.slice(caller.lastIndexOf("."))}`, caller);
