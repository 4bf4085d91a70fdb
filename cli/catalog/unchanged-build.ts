import { join } from "node:path";
import { type BuildCall, programIdentity, unchangedBuild } from "../../pipeline/journal/unchanged-build.ts";
import type { Host, Output, Style } from "../terminal/host.ts";

/**
 * Says what a build says that finds everything as it was.
 * @param outputs made when there is something to say
 * @returns false where there may be something to build
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

/** @returns undefined from source, which changes under one version, and where -C may lead to another folder */
export function buildCall(host: Host): BuildCall | undefined {
  const program = programIdentity(host.own.version, host.node);
  if (program === undefined || host.words.some((word) => word.startsWith("-C"))) return undefined;
  // `npm run catalog` names other commands than relcat does.
  const words = [...host.words, host.environment.npm_lifecycle_event === "catalog" ? "catalog" : ""];
  const { pid, clock, own, releases: folder } = host;
  return { words, program, own: own.folder, folder, cache: join(folder, "../.relcat-cache"), pid, clock };
}

type Said = [stream: "data" | "messages", text: string];

/** No text that is printed has a NUL. */
const styled = /\0(\w+)\0([^\0]*)\0/g;

/** A host that keeps what is said, to be said again: coloured or not, as whoever reads it then wants it. */
export function recording(host: Host): { host: Host; said: Said[] } {
  const said: Said[] = [];
  const output = (stream: Said[0]): Output => ({
    ...host[stream],
    write: (text) => said.push([stream, text]),
    style: (style, text) => `\0${[style].flat().join(" ")}\0${text}\0`,
  });
  return { host: { ...host, data: output("data"), messages: output("messages") }, said };
}
