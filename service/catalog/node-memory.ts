import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type Collect = (options: { type: "major" | "minor"; execution?: "async"; flavor?: "last-resort" }) => unknown;

setFlagsFromString("--expose-gc");
const collect: Collect | undefined = runInNewContext("globalThis.gc");

/**
 * Gives back what reading a site leaves behind: more than what is kept of it, and V8 would hold on to it until
 * much more has come together.
 */
export const releaseMemory = (): unknown =>
  collect?.({ type: "major", execution: "async", flavor: "last-resort" });

/** The same for what was read and thrown away just now. */
export const releaseNewMemory = (): unknown => collect?.({ type: "minor" });
