// Imported directly, because index.ts also loads templates and pages, which doubles the memory of build jobs.

import { ingest, suggestForInputs } from "../../pipeline/intake/ingest/store-manifest.ts";
import { table } from "../terminal/cells.ts";
import { answer, commandContext, type Host, say, sayNext } from "../terminal/host.ts";
import { openRelease } from "../terminal/only-one.ts";
import { showReading } from "../terminal/progress.ts";
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

export async function ingestOutputs(
  inputs: readonly string[],
  options: IngestOptions,
  host: Host,
): Promise<void> {
  const { rev, set, sums, artifacts, config, dryRun, out, jobs } = options;
  if (options.from !== undefined) {
    const message = "--from is the site that serves the artifacts of --fill, which is missing";
    const hint = "For example: relcat ingest --fill 26.08.001 --from https://downloads.example.com";
    throw new UsageError(message, hint);
  }
  if (inputs.length === 0 && !sums) {
    const hint =
      "Give build outputs: JSON of Nix, Hydra or GoReleaser, an output folder, files for download.";
    throw new UsageError("nothing to ingest", hint);
  }
  if (options.suggest) {
    const suggestion = await suggestForInputs(host.releases, { inputs, sums, config });
    answer<"ingest-suggest">(host, { suggestion }, () => suggestion.trimEnd());
    return;
  }
  if (out !== undefined && out !== "-" && !/\.(json|ya?ml)$/.test(out)) {
    const message = `--out ${out} is not a manifest name, expected a name that ends in .json, .yaml or .yml`;
    throw new UsageError(message, "Only such files are read as manifests; - means standard output.");
  }
  const reading = showReading(host);
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
}

function report(delivered: Delivered, dryRun: true | undefined, host: Host): void {
  const { file, result, ingested } = delivered;
  const { version, manifest, text, leftOut, warnings } = ingested;
  if (leftOut.length > 0) say(host, `Not artifacts: ${leftOut.join(", ")}.`);
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
  sayNext(host, isInReleases(file, host) ? "relcat check" : handOver(file, version, host), dryRun);
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
