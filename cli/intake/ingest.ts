// Imported directly, because index.ts also loads templates and pages, which doubles the memory of build jobs.

import { type Filled, fillManifests } from "../../pipeline/index.ts";
import { ingest, suggestForInputs } from "../../pipeline/intake/ingest/store-manifest.ts";
import { exitStatus } from "../../shared/errors.ts";
import { table } from "../terminal/cells.ts";
import { answer, commandContext, type Host, say, sayNext, sayNextAfterDryRun } from "../terminal/host.ts";
import { openRelease } from "../terminal/only-one.ts";
import { showReading } from "../terminal/reading-progress.ts";
import { problemRows, renderProblems } from "../terminal/render.ts";
import { UsageError } from "../terminal/usage.ts";
import { count, fileSize } from "../terminal/words.ts";
import { handOver, isInReleases } from "./manifest-place.ts";

export interface IngestOptions {
  release?: string;
  job?: string;
  rev?: string;
  set?: string[];
  sums?: string[];
  artifacts?: string;
  config?: string;
  /** Only used with --fill. */
  from?: string;
  dryRun?: true;
  out?: string;
  addToCut?: true;
  suggest?: true;
  jobs?: number;
}

type Delivered = Awaited<ReturnType<typeof ingest>>;

/** `relcat ingest`: turns a build's output into a manifest. */
export async function ingestOutputs(
  inputs: readonly string[],
  options: IngestOptions,
  host: Host,
): Promise<number> {
  const { rev, set, sums, artifacts, config, dryRun, out, jobs } = options;
  if (options.from !== undefined) {
    throw new UsageError(
      "--from is the site that serves the artifacts of --fill, which is missing",
      "For example: relcat ingest --fill 26.08.001 --from https://downloads.example.com",
    );
  }
  if (inputs.length === 0 && !sums) {
    throw new UsageError(
      "nothing to ingest",
      "Give build outputs: JSON of Nix, Hydra or GoReleaser, an output folder, files for download.",
    );
  }
  if (options.suggest) {
    const suggestion = await suggestForInputs(host.releases, { inputs, sums, config });
    answer<"ingest-suggest">(host, { suggestion }, () => suggestion.trimEnd());
    return exitStatus.done;
  }
  if (out !== undefined && out !== "-" && !/\.(json|ya?ml)$/.test(out)) {
    throw new UsageError(
      `--out ${out} is not a manifest name, expected a name that ends in .json, .yaml or .yml`,
      "Only such files are read as manifests; - means standard output.",
    );
  }
  const reading = showReading(host, () => performance.now());
  const request = { ...options, openRelease: openRelease(host), inputs, settings: set, revision: rev };
  const destination =
    out === undefined
      ? ({ kind: "release" } as const)
      : out === "-"
        ? ({ kind: "caller" } as const)
        : ({ kind: "file", path: out } as const);
  const process = {
    ...commandContext(host),
    dryRun,
    environment: host.environment,
    onProgress: reading.onProgress,
    jobs,
  };
  const delivered = await ingest(host.releases, request, destination, process).finally(reading.end);
  if (artifacts !== undefined && !delivered.ingested.isInspected)
    say(host, "catalog.yaml names no signers: only checksums and sizes were compared.");
  report(delivered, dryRun, host);
  return exitStatus.done;
}

function report(delivered: Delivered, dryRun: true | undefined, host: Host): void {
  const { file, result, ingested } = delivered;
  const { version, manifest, text, leftOut, warnings } = ingested;
  if (leftOut.length > 0) say(host, `Left out: ${leftOut.join(", ")}.`);
  host.messages.write(renderProblems(warnings, host));
  if (file === undefined) return void host.data.write(text);
  const document = {
    release: version,
    file,
    result,
    artifacts: manifest.artifacts.map(({ name, file: fileName, package_type, size, sha256 }) => ({
      package_type,
      file: fileName ?? name,
      size: size ?? null,
      sha256,
    })),
    left_out: leftOut,
    warnings: problemRows(warnings, host),
    dry_run: dryRun ?? false,
  };
  answer<"ingest">(host, document, () => describe(delivered, dryRun ? dryVerbs : verbs));
  if (dryRun) sayNextAfterDryRun(host);
  else sayNext(host, isInReleases(file, host) ? "relcat check" : handOver(file, version, host));
}

const verbs = { written: "Wrote", replaced: "Replaced", unchanged: "Unchanged:" };
const dryVerbs = { written: "Would write", replaced: "Would replace", unchanged: "Unchanged:" };

function describe({ file, result, ingested: { manifest } }: Delivered, verb: typeof verbs): string {
  const rows = manifest.artifacts.map(({ package_type, file: fileName, name, size, sha256 }) => [
    `  ${package_type}`,
    fileName ?? name,
    size === undefined ? "size unknown" : fileSize(size),
    sha256,
  ]);
  return `${verb[result]} ${file} with ${count(rows.length, "artifact")}\n${table(rows)}`;
}

interface FillOptions extends IngestOptions {
  fill: string[];
  from?: string;
}

/** `relcat ingest --fill`: adds package metadata to manifests that lack it. */
export async function fillReleases(
  inputs: readonly string[],
  { fill: versions, artifacts, from: site, dryRun, jobs, ...others }: FillOptions,
  host: Host,
): Promise<number> {
  const [other] = Object.keys(others);
  if (inputs.length > 0 || other !== undefined)
    throw new UsageError(
      `--fill adds to the manifests of releases, and ${other === undefined ? inputs[0] : `--${other}`} is for new ones`,
      "For example: relcat ingest --fill 26.08.001 --artifacts out",
    );
  const source = sourceOf(artifacts, site);
  const reading = showReading(host, () => performance.now());
  const process = { ...commandContext(host), dryRun, jobs, onProgress: reading.onProgress };
  const done = await fillManifests(host.releases, { versions, source }, process).finally(reading.end);
  const { filled, absent, place, warnings } = done;
  host.messages.write(renderProblems(warnings, host));
  const document = {
    filled,
    absent,
    warnings: problemRows(warnings, host),
    dry_run: dryRun ?? false,
  };
  answer<"ingest-fill">(host, document, () => describeFilled(filled, versions, dryRun));
  if (absent.length > 0)
    say(host, `Not in ${place}: ${absent.map(({ version, file }) => `${version}/${file}`).join(", ")}.`);
  if (dryRun) sayNextAfterDryRun(host);
  else sayNext(host, filled.length > 0 ? "relcat check" : "relcat status");
  return exitStatus.done;
}

function sourceOf(artifacts: string | undefined, site: string | undefined) {
  if (artifacts !== undefined && site === undefined) return { artifacts };
  if (site !== undefined && artifacts === undefined) return { site };
  throw new UsageError(
    artifacts === undefined
      ? "--fill needs the artifacts"
      : "--artifacts and --from both say where the artifacts are",
    "Give one of them: --artifacts FOLDER, or --from with the site that serves them.",
  );
}

function describeFilled(
  filled: Filled["filled"],
  versions: readonly string[],
  dryRun: true | undefined,
): string {
  if (filled.length === 0) return `Nothing to add to ${versions.join(", ")}.`;
  const rows = filled.map(({ manifest, file, members }) => [`  ${manifest}`, file, members.join(", ")]);
  const verb = dryRun ? "Would add to" : "Added to";
  return `${verb} ${count(filled.length, "artifact")}:\n${table(rows)}`;
}
