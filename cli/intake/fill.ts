import { type Filled, fillManifests } from "../../pipeline/index.ts";
import { table } from "../terminal/cells.ts";
import { answer, commandContext, type Host, say, sayNext } from "../terminal/host.ts";
import { showReading } from "../terminal/progress.ts";
import { problemRows, renderProblems } from "../terminal/render.ts";
import { UsageError } from "../terminal/usage.ts";
import { count } from "../terminal/words.ts";
import type { IngestOptions } from "./ingest.ts";

interface FillOptions extends IngestOptions {
  fill: string[];
  from?: string;
}

export async function fillReleases(
  inputs: readonly string[],
  { fill: versions, artifacts, from: site, dryRun, jobs, ...others }: FillOptions,
  host: Host,
): Promise<void> {
  const [other] = Object.keys(others);
  if (inputs.length > 0 || other !== undefined) {
    const message = `--fill adds to the manifests of releases, and ${other === undefined ? inputs[0] : `--${other}`} is for new ones`;
    throw new UsageError(message, "For example: relcat ingest --fill 26.08.001 --artifacts out");
  }
  const source = sourceOf(artifacts, site);
  const reading = showReading(host);
  const process = { ...commandContext(host), dryRun, jobs, onProgress: reading.onProgress };
  const done = await fillManifests(host.releases, { versions, source }, process).finally(reading.end);
  const { filled, absent, place, warnings } = done;
  host.messages.write(renderProblems(warnings, host));
  const document = { filled, absent, warnings: problemRows(warnings, host), dry_run: dryRun ?? false };
  answer<"ingest-fill">(host, document, () => describe(filled, versions, dryRun));
  if (absent.length > 0)
    say(host, `Not in ${place}: ${absent.map(({ version, file }) => `${version}/${file}`).join(", ")}.`);
  sayNext(host, filled.length > 0 ? "relcat check" : "relcat status", dryRun);
}

function sourceOf(artifacts: string | undefined, site: string | undefined) {
  if (artifacts !== undefined && site === undefined) return { artifacts };
  if (site !== undefined && artifacts === undefined) return { site };
  const both = "--artifacts and --from both say where the artifacts are";
  const hint = "Give one of them: --artifacts FOLDER, or --from with the site that serves them.";
  throw new UsageError(artifacts === undefined ? "--fill needs the artifacts" : both, hint);
}

function describe(filled: Filled["filled"], versions: readonly string[], dryRun: true | undefined): string {
  if (filled.length === 0) return `Nothing to add to ${versions.join(", ")}.`;
  const rows = filled.map(({ manifest, file, members }) => [`  ${manifest}`, file, members.join(", ")]);
  const verb = dryRun ? "Would add to" : "Added to";
  return `${verb} ${count(filled.length, "artifact")}:\n${table(rows)}`;
}
