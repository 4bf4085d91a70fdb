import { join } from "node:path";
import { type BuildCall, programIdentity, unchangedBuild } from "../../pipeline/journal/unchanged-build.ts";
import type { Host } from "../terminal/host.ts";
import { type BuildReport, showBuild, unchangedReport } from "./build-report.ts";

/**
 * Prints the report of the last build again if nothing changed since.
 * @param reporting creates the host for the report; called only if there is a report
 * @returns false if there may be something to build
 */
export async function reportUnchangedBuild(host: Host, reporting: () => Host): Promise<boolean> {
  const call = buildCall(host, outOf(host));
  const last = call && (unchangedBuild(call) as BuildReport | undefined);
  if (!last) return false;
  await showBuild(unchangedReport(last), reporting());
  return true;
}

/** A guess, because commander is not loaded yet. A wrong guess only leads to a full build. */
function outOf({ words, dist }: Host): string {
  const index = words.findIndex((word) => word === "--out" || word === "-o");
  const joined = words.find((word) => word.startsWith("--out="))?.slice("--out=".length);
  return joined ?? (index === -1 ? dist : (words[index + 1] ?? dist));
}

/** Options that change how a report is shown but not what is built. */
const forms = ["--json", "--color", "--no-color", "-v", "--verbose"];

/** @returns undefined with -C, which may lead to another folder */
export function buildCall(host: Host, out: string): BuildCall | undefined {
  if (host.words.some((word) => word.startsWith("-C"))) return undefined;
  const program = programIdentity(host.own.version, host.node);
  // The script is part of the call, because `npm run catalog` prints other commands in its hints.
  const { npm_lifecycle_event: script, RELCAT_SITE: site = "" } = host.environment;
  const given = host.words.filter((word) => !forms.includes(word));
  const words = [...given, script === "catalog" ? "catalog" : "", site];
  const { pid, clock, own, releases: folder } = host;
  return {
    words,
    program,
    own: own.folder,
    folder,
    out,
    cache: join(folder, "../.relcat-cache"),
    pid,
    clock,
  };
}
