import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type Collect = (options: { type: "major" | "minor"; execution?: "async"; flavor?: "last-resort" }) => unknown;

setFlagsFromString("--expose-gc");
const collect: Collect | undefined = runInNewContext("globalThis.gc");

/** Collects garbage after reading a site, because V8 would keep the temporary memory for long. */
export const releaseMemory = (): unknown =>
  collect?.({ type: "major", execution: "async", flavor: "last-resort" });

/** Collects only objects that were just created. */
export const releaseNewMemory = (): unknown => collect?.({ type: "minor" });
