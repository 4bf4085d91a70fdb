import { failure, type Problem, throwErrors } from "../../../shared/errors.ts";
import type { Settings } from "../../documents/config.ts";
import type { Manifest } from "../../documents/manifest.ts";
import { assignIds } from "../../ledger/assign-ids.ts";
import { feedCheck } from "../../ledger/feed-check.ts";
import { readLedger } from "../../ledger/ledger.ts";
import { display } from "../../project/display.ts";
import { catalogFile, loadSettings } from "../../project/settings.ts";
import type { IncusStatement } from "../../records/incus-tarball.ts";
import type { Release } from "../../records/normalize.ts";
import { requireFolder } from "../../system/files.ts";
import { cleanHead } from "../../system/git/git.ts";
import type { Reading } from "../../system/in-parallel.ts";
import { requireArtifacts } from "../../system/input-files.ts";
import { ruleFor, typeOfFile } from "./built-in-rules.ts";
import { checkManifest, type Described } from "./check-manifest.ts";
import { type Description, describeFile, typeOfHint } from "./describe.ts";
import { type At, wholeFile } from "./evidence.ts";
import { readSumFiles, unusedSums } from "./formats/sums.ts";
import { readEvidence } from "./inputs.ts";
import { manifestFileName, manifestText } from "./manifest-text.ts";
import {
  type ClaimInspector,
  type FactReader,
  locate,
  type Measured,
  measure,
  type Present,
} from "./measure.ts";
import { mergeEvidence } from "./merge-evidence.ts";
import { readRelease, refuseLateFiles, requireRelease } from "./release-folder.ts";
import { parseSettings } from "./settings.ts";
import { suggestRules, unmatchedHint } from "./suggest.ts";

export interface IngestRequest {
  /** Build outputs: documents, folders, downloadable files. */
  inputs: readonly string[];
  /** Optional if a finished manifest contains it. */
  release?: string | undefined;
  /** Chooses the release if neither `release` nor an input names one. */
  openRelease?: (() => Promise<string>) | undefined;
  /** Part of the manifest's file name; default "build". */
  job?: string | undefined;
  /** `key=value`. */
  settings?: readonly string[] | undefined;
  sums?: readonly string[] | undefined;
  /** A commit id, `ci` or `git`. */
  revision?: string | undefined;
  /** Folder that holds every artifact as FILE or VERSION/FILE; statements are compared with their bytes. */
  artifacts?: string | undefined;
  /** Path or URL of another catalog.yaml. */
  config?: string | undefined;
  /** The manifest is not written into the release, so the release need not exist here. */
  elsewhere?: boolean | undefined;
  /** Allow files that a cut release does not have yet. */
  addToCut?: boolean | undefined;
}

export interface IngestContext extends Reading {
  environment: Environment;
  /** Time at which certificates must be valid, in milliseconds since 1970. */
  clock: number;
}

/** A complete manifest, not yet written. */
export interface Ingested {
  version: string;
  manifest: Manifest;
  text: string;
  fileName: string;
  /** Skipped inputs, with reasons. */
  leftOut: string[];
  /** True if policies require inspection; otherwise files are only measured. */
  isInspected: boolean;
  warnings: Problem[];
}

/**
 * Reads, joins, describes, checks, measures, then describes and checks again. Decides everything and writes nothing.
 * @param folder the releases folder; it may be missing if `elsewhere` is set
 * @throws RelcatError with every problem that can be found before the files are read, then with the others
 */
export async function ingestBuild(
  folder: string,
  request: IngestRequest,
  context: IngestContext,
): Promise<Ingested> {
  if (!request.elsewhere) requireFolder(folder);
  const job = jobName(request);
  const settings = parseSettings(request.settings ?? []);
  if (request.artifacts !== undefined) requireArtifacts(request.artifacts);
  const { config, sums, evidence, merged } = await read(folder, request, context);
  if (!request.elsewhere) requireRelease(folder, merged.version);
  const names = merged.job.files.map(({ name }) => name);
  if (settings.file !== undefined && names.length > 1) {
    const message = `--set file=${settings.file} would give ${names.length} files one name: ${names.slice(0, 5).join(", ")}`;
    throw failure("usage", message, "Ingest the file with that name in a run of its own.");
  }

  const release = readRelease(folder, merged.version);
  const { present, problems: missing } = locate(merged.job.files, sums, merged.version, request.artifacts);
  const stating: Description = { ...merged, config, settings };
  const descriptionInput = { ...stating, contentTypes: await contentTypes(present, stating) };
  const check = (measured: ReadonlyMap<string, Measured>, isRead: boolean) => {
    const { described, problems, statements } = describeAll(present, measured, descriptionInput);
    const checked = checkManifest(described, merged.version, config, release, isRead);
    return { ...checked, statements, problems: [...problems, ...checked.problems] };
  };
  // Errors that do not depend on the bytes are reported before reading, which may take minutes.
  const unused = unusedSums(request.sums ?? [], sums, names);
  const stated = check(new Map(), false);
  throwErrors([...unused, ...missing, ...stated.problems]);
  if (!request.elsewhere && !request.addToCut) refuseLateFiles(folder, stated.manifest);
  const place = catalogFile(folder, request.config);
  // The code that checks signatures is loaded only if there are signers.
  const policy = config.policies.size > 0 ? await import("./apply-policy.ts") : undefined;
  const inspect = await policy?.policyInspector(config, place, stated.manifest, context.clock);
  const readFacts = factReader(stated, config, inspect);
  const { measured, problems: found } = await measure(present, context, readFacts);
  const { manifest, release: whole, problems: own } = check(measured, true);
  const feeds = whole ? await feedProblems(whole, measured, config, wholeFile(place)) : [];
  const problems = [...found, ...own, ...feeds];
  throwErrors(problems);
  return {
    version: merged.version,
    manifest,
    text: manifestText(manifest),
    fileName: manifestFileName(job, manifest),
    leftOut: [...new Set(evidence.leftOut)].sort(),
    isInspected: inspect !== undefined,
    warnings: problems,
  };
}

/** Problems with the feeds' lists of these artifacts. Artifacts that could not be read have one already. */
async function feedProblems(
  { artifacts, ...release }: Release,
  measured: ReadonlyMap<string, Measured>,
  config: Settings,
  catalog: At,
): Promise<Problem[]> {
  if (Object.keys(config.feeds).length === 0) return [];
  const readable = artifacts.filter(({ file }) => !measured.get(file)?.found?.isUnreadable);
  const { ledger } = readLedger({ file: "ledger.jsonl", text: "" });
  const identified = assignIds([{ ...release, artifacts: readable }], ledger, () => true);
  const check = feedCheck(config, catalog);
  for (const each of identified.releases) check.next(each);
  const { feedGapProblems } = await import("../../site/feeds/feed-gaps.ts");
  return [...check.finish(), ...feedGapProblems({ identified, ledger, config })];
}

/** @returns lines for catalog.yaml @throws RelcatError input-missing, and others of unreadable inputs */
export async function suggestForInputs(
  folder: string,
  { inputs, sums: lists, config: place }: Pick<IngestRequest, "inputs" | "sums" | "config">,
): Promise<string> {
  const config = await loadSettings(folder, place);
  const { files, problems } = await readEvidence(inputs, config, await readSumFiles(lists ?? []));
  throwErrors(problems);
  const open = files.filter(({ finished, hint = "" }) => !finished && typeOfHint(hint, config) === undefined);
  const names = [...new Set(open.map(({ name }) => name))];
  return suggestRules(names.sort(), config);
}

/** Only for files whose package type nothing else states. */
async function contentTypes(
  present: readonly Present[],
  { config, sidecars, settings }: Description,
): Promise<Map<string, string | undefined>> {
  const types = new Map<string, string | undefined>();
  for (const { file, copies } of present) {
    const stated = [settings, sidecars.get(file.name)?.value, ruleFor(file.name, config)];
    if (copies[0] && !file.finished && stated.every((fields) => fields?.package_type === undefined))
      types.set(file.name, await typeOfFile(file.name, copies[0].path));
  }
  return types;
}

function factReader(
  { manifest, statements }: { manifest: Manifest; statements: ReadonlyMap<string, IncusStatement> },
  config: Settings,
  inspect: ClaimInspector | undefined,
): FactReader {
  const types = new Map(
    manifest.artifacts.map(({ file, name, package_type }) => [file ?? name, package_type]),
  );
  return async (file, opened) => {
    const { name, at } = file;
    const packageType = types.get(name) ?? "";
    const kind = config.packageTypes.get(packageType)?.kind;
    if (!kind) return {};
    const statement = statements.get(name);
    // The code that reads disks is loaded only if a feed needs it.
    const incus = statement && (await import("./incus-reading.ts")).incusReading(opened, statement);
    const source = incus?.opened ?? opened;
    const seen = await inspect?.(file, source);
    const { readPackage } = await import("./read-package.ts");
    const request = { name, packageType, kind, at, config, required: config.require.feeds };
    const read = { inspection: seen?.inspection, incusDigests: incus?.digests };
    return { seen, found: await readPackage(source, { ...request, ...read }) };
  };
}

/** Reads all inputs except downloadable files, which may be large. */
async function read(folder: string, request: IngestRequest, { environment }: IngestContext) {
  const { revision: named, release, openRelease } = request;
  const revision =
    named === undefined
      ? undefined
      : await statedRevision(named, environment, () => cleanHead(".", ownFiles(folder)));
  const config = await loadSettings(folder, request.config);
  const sums = await readSumFiles(request.sums ?? []);
  const evidence = await readEvidence(request.inputs, config, sums);
  return {
    config,
    sums,
    evidence,
    merged: await mergeEvidence(evidence, { release, openRelease, revision }, config),
  };
}

/** Excludes ingest's own output: a second call for the same build finds the first manifest. */
const ownFiles = (folder: string) => [`${folder}/*/manifests/**`, `${folder}/.relcat-*`];

/** Validated, because it becomes part of a file name. */
function jobName({ job = "build" }: IngestRequest): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(job)) return job;
  const message = `--job ${JSON.stringify(job)} is not 1 to 64 letters, digits, dots, dashes and underscores`;
  throw failure("usage", message, "For example: --job kvm.");
}

function describeAll(
  present: readonly Present[],
  measured: ReadonlyMap<string, Measured>,
  context: Description,
) {
  const described: Described[] = [];
  const unknown: string[] = [];
  const problems: Problem[] = [];
  const statements = new Map<string, IncusStatement>();
  for (const { file } of present) {
    const found = describeFile(file, measured.get(file.name), context);
    if (found.incus) statements.set(file.name, found.incus);
    if (found.artifact) described.push({ artifact: found.artifact, at: file.at, problems: found.problems });
    else unknown.push(file.name);
    problems.push(...found.problems);
  }
  // Unmatched files share one hint with the lines to add.
  const told = problems.map((problem) =>
    problem.code === "artifact-unmatched"
      ? { ...problem, hint: unmatchedHint(unknown, context.config) }
      : problem,
  );
  return { described, statements, problems: told };
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The stated source revision: a full commit id, `ci` for the commit of the CI job, `git` for the checked-out
 * commit. Never guessed, because the CI commit of a pull request is a temporary merge.
 * @throws RelcatError usage, revision-unsure
 */
export async function statedRevision(
  stated: string,
  environment: Environment,
  checkedOut: () => Promise<string>,
): Promise<string> {
  if (stated === "ci") return ofCi(environment);
  const revision = stated === "git" ? await checkedOut() : stated;
  if (/^[0-9a-f]{40}$/.test(revision)) return revision;
  const message = `--rev ${display(stated)} is not 40 lowercase hexadecimal characters, ci or git`;
  throw failure("usage", message, "Give the whole commit id, as git rev-parse HEAD prints it.");
}

function ofCi(environment: Environment): string {
  const {
    GITHUB_SHA,
    CI_COMMIT_SHA,
    GITHUB_EVENT_NAME: event = "",
    CI_PIPELINE_SOURCE: source = "",
  } = environment;
  const request =
    event.startsWith("pull_request") ||
    /^(merge_request_event|external_pull_request_event)$/.test(source) ||
    [environment.CI_MERGE_REQUEST_ID, environment.CI_EXTERNAL_PULL_REQUEST_IID].some(Boolean);
  if (request) {
    const message = "--rev ci in a pull or merge request: its commit is not on any branch that is released";
    const hint = "Ingest in a job that runs on the branch or tag; or state the revision with --rev SHA.";
    throw failure("revision-unsure", message, hint);
  }
  const found = new Set([GITHUB_SHA, CI_COMMIT_SHA].filter((sha) => sha !== undefined && sha !== ""));
  const [revision] = found;
  if (found.size === 1 && revision !== undefined && /^[0-9a-f]{40}$/.test(revision)) return revision;
  const seen =
    found.size === 0
      ? "neither GITHUB_SHA nor CI_COMMIT_SHA is set"
      : `GITHUB_SHA, CI_COMMIT_SHA: ${[...found].join(", ")}`;
  const hint = "State the revision with --rev SHA, or --rev git.";
  throw failure("revision-unsure", `--rev ci finds no commit: ${seen}`, hint);
}
