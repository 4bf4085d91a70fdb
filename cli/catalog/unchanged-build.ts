import { join } from "node:path";
import { type BuildCall, programIdentity, unchangedBuild } from "../../pipeline/journal/unchanged-build.ts";
import type { Host, Output, Style } from "../terminal/host.ts";

/**
 * Repeats the output of a build that finds nothing changed.
 * @param outputs created only if there is output
 * @returns false if a build may be necessary
 */
export async function replayUnchangedBuild(
  host: Host,
  outputs: Readonly<Record<Said[0], () => Output>>,
): Promise<boolean> {
  const call = buildCall(host);
  const report = call && (await unchangedBuild(call));
  if (report === undefined) return false;
  const made = { data: outputs.data(), messages: outputs.messages() };
  for (const [stream, text] of JSON.parse(report) as Said[]) {
    const output = made[stream];
    output.write(text.replace(styled, (_, style: Style, words: string) => output.style(style, words)));
  }
  return true;
}

/**
 * @returns undefined if run from source, which changes without a new version, and with -C, which changes the
 * folder
 */
export function buildCall(host: Host): BuildCall | undefined {
  const program = programIdentity(host.own.version, host.node);
  if (program === undefined || host.words.some((word) => word.startsWith("-C"))) return undefined;
  // `npm run catalog` shows other commands in its hints than relcat.
  const { npm_lifecycle_event: script, RELCAT_SITE: site = "" } = host.environment;
  const words = [...host.words, script === "catalog" ? "catalog" : "", site];
  const { pid, clock, own, releases: folder } = host;
  return { words, program, own: own.folder, folder, cache: join(folder, "../.relcat-cache"), pid, clock };
}

type Said = [stream: "data" | "messages", text: string];

/** Printed text never contains a NUL. */
const styled = /\0(\w+)\0([^\0]*)\0/g;

/** A host that records its output for a later run, which may or may not use colours. */
export function recording(host: Host): { host: Host; said: Said[] } {
  const said: Said[] = [];
  const output = (stream: Said[0]): Output => ({
    ...host[stream],
    write: (text) => said.push([stream, text]),
    style: (style, text) => `\0${[style].flat().join(" ")}\0${text}\0`,
  });
  return { host: { ...host, data: output("data"), messages: output("messages") }, said };
}
