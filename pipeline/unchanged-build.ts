/** What the command line asks before it loads anything else. */
export type { BuildCall } from "./outside/build-entry.ts";
export { beforeBuild, rememberBuild, unchangedBuild } from "./outside/last-build.ts";
export { programIdentity } from "./outside/program.ts";
