// Imported directly, because index.ts also loads templates and pages, which doubles the memory of build jobs.

import { type InspectedFile, inspectFiles } from "../../pipeline/policy/inspect-files.ts";
import { exitStatus } from "../../shared/errors.ts";
import { harmless, table } from "../terminal/cells.ts";
import { answer, type Host, type Output, type Style, say } from "../terminal/host.ts";
import { count } from "../terminal/words.ts";
import { detailsOf } from "./inspection-details.ts";
import { showReading } from "./reading-progress.ts";

export interface InspectOptions {
  keys?: string;
  selfCheck?: string;
}

/** `relcat inspect`: reports facts and signatures of artifacts. */
export async function inspect(
  files: readonly string[],
  { keys, selfCheck }: InspectOptions,
  host: Host,
): Promise<number> {
  const reading = showReading(host, () => performance.now());
  const context = { clock: host.clock, onProgress: reading.onProgress };
  const inspected = await inspectFiles({ files, keys, selfCheck }, context).finally(reading.end);
  const artifacts = inspected.map(({ file, inspection, metadata }) => ({
    file,
    ...inspection,
    package: metadata,
  }));
  answer<"inspect">(host, { artifacts }, () => describe(inspected, host.data));
  const bad = inspected.filter(({ inspection }) => inspection.verdict !== "ok");
  if (!host.json)
    say(host, `${count(files.length, "file")}, ${bad.length === 0 ? "all" : files.length - bad.length} ok.`);
  if (keys === undefined && bad.some(({ inspection }) => inspection.verdict === "untrusted-key"))
    say(host, "No key is allowed without --keys FOLDER.");
  return bad.length === 0 ? exitStatus.done : exitStatus.problems;
}

/** One line per file, with details below it. */
function describe(inspected: readonly InspectedFile[], output: Output): string {
  const rows = inspected.map(({ file, inspection: { verdict, type } }) => [verdict, type, file]);
  const lines = table(rows).split("\n");
  return inspected
    .map(({ inspection }, index) => {
      const { verdict } = inspection;
      const rest = lines[index]?.slice(verdict.length) ?? "";
      return [output.style(colorOf(verdict), verdict) + rest, ...detailLines(inspection, output)].join("\n");
    })
    .join("\n");
}

const colorOf = (verdict: string): readonly Style[] =>
  verdict === "ok" ? ["green"] : verdict === "unsigned" ? ["bold", "yellow"] : ["bold", "red"];

function detailLines(inspection: InspectedFile["inspection"], output: Output): string[] {
  const details = detailsOf(inspection);
  const width = Math.max(...details.map(({ title }) => title.length));
  return details.map(({ title, text }) => `  ${output.style("dim", title.padEnd(width))}  ${harmless(text)}`);
}
