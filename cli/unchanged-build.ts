import { type BuildCall, programIdentity, unchangedBuild } from "../pipeline/unchanged-build.ts";
import { type Host, type Output, releasesFolder, type Style } from "./host.ts";

/** Says what a build says that finds everything as it was. @returns false where there may be something to build */
export function replayUnchangedBuild(host: Host): boolean {
  const call = buildCall(host);
  const report = call && unchangedBuild(call);
  if (report === undefined) return false;
  for (const [stream, text] of JSON.parse(report) as Said[]) {
    const output = host[stream];
    output.write(text.replace(styled, (_, style: Style, words: string) => output.style(style, words)));
  }
  return true;
}

/** @returns undefined from source, which changes under one version */
export function buildCall(host: Host): BuildCall | undefined {
  const program = programIdentity(host.node);
  if (program === undefined) return undefined;
  // `npm run catalog` names other commands than relcat does.
  const words = [...host.words, host.environment.npm_lifecycle_event === "catalog" ? "catalog" : ""];
  const { pid, clock } = host;
  return { words, program, folder: releasesFolder, cache: ".relcat-cache", pid, clock };
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
