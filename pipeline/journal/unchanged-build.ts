/** What the command line asks before it loads anything else. */
export type { BuildCall } from "./build-entry.ts";
export { beforeBuild, rememberBuild, unchangedBuild } from "./last-build.ts";
export { programIdentity } from "./program.ts";
