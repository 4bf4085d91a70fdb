/** What the command line asks before it loads anything else. */
export { type BuildCall, beforeBuild, rememberBuild, unchangedBuild } from "./outside/last-build.ts";
export { programIdentity } from "./outside/program.ts";
