import { z } from "zod";
import { type Code, type Problem, RelcatError, throwErrors } from "../../../shared/errors.ts";
import { expects } from "../../../shared/fields.ts";
import type { Path } from "../../../shared/source.ts";
import { lineOf } from "../../../shared/version.ts";
import type { Settings } from "../../documents/config.ts";
import type { Manifest, WrittenArtifact } from "../../documents/manifest.ts";
import { packageRecordSchema } from "../../documents/package-record.ts";
import { assignIds, type Package } from "../../ledger/assign-ids.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { loadLedger } from "../../ledger/ledger-file.ts";
import { publishedRecord } from "../../ledger/publish-records.ts";
import { type AuthoredFiles, filesIn, filesOf } from "../../project/authored-files.ts";
import { discover } from "../../project/discover.ts";
import { display } from "../../project/display.ts";
import { checkShape, type Located } from "../../project/document.ts";
import { type ParsedRelease, parseRelease } from "../../project/parse.ts";
import { loadSettings } from "../../project/settings.ts";
import { isSame, mergeArtifacts } from "../../records/merge.ts";
import { normalizeRelease, type Release } from "../../records/normalize.ts";
import { checkRelease } from "../../records/read-release.ts";
import { neutralData, recordShape } from "../../records/verbatim.ts";
import { exists, inProject, readIfPresent, replaceDurably, requireFolder } from "../../system/files.ts";
import { listFiles } from "../../system/folders.ts";
import { runCommand } from "../../system/hooks.ts";
import { type CommandContext, withLock } from "../../system/lock.ts";
import { inOrderOf } from "../ingest/check-manifest.ts";
import { describeFile } from "../ingest/describe.ts";
import { gather } from "../ingest/evidence.ts";
import { evidenceOf } from "../ingest/formats/finished-manifest.ts";
import { manifestFileName, manifestText } from "../ingest/manifest-text.ts";
import { type MergedEvidence, mergeEvidence } from "../ingest/merge-evidence.ts";
import {
  invalid,
  maxPostedBytes,
  messageOf,
  type PostedBody,
  PostRefused,
  postedName,
  readPosted,
  refuseConflicts,
  refuseInvalid,
} from "./read-posted.ts";

export type PostedManifest = Omit<PostDecision, "bytes">;

/**
 * Stores a posted manifest in its release. The ledger stays unchanged: only a cut makes anything permanent.
 * @param body JSON text: a manifest, or one record
 * @throws PostRefused for errors of the body; RelcatError for errors of the catalog; lock-held
 */
export async function postManifest(
  folder: string,
  body: Uint8Array,
  { pid, onWait }: Pick<CommandContext, "pid" | "onWait">,
): Promise<PostedManifest> {
  const posted = readPosted(body);
  requireFolder(folder);
  return withLock(folder, pid, onWait, async () => {
    const { bytes, ...decided } = await decidePost(folder, posted);
    if (decided.result !== "unchanged") replaceDurably(decided.file, bytes);
    return decided;
  });
}

/** Runs without the lock, because the user's hook may run relcat. @returns the error message, if it failed */
export const runAfterPost = (
  command: readonly string[],
  files: readonly string[],
): Promise<string | undefined> =>
  runCommand(command, { RELCAT_MANIFESTS: files.join("\n"), RELCAT_PUBLISH_TOKEN: undefined });

interface PostDecision {
  file: string;
  bytes: Uint8Array;
  result: "written" | "replaced" | "unchanged";
  /** In published form; `id` is null for records without a ledger line. */
  records: Readonly<Record<string, unknown>>[];
  isRecord: boolean;
  /** Ignored members of a record. */
  ignored: string[];
}

/**
 * Reads only the release of the manifest. Exceptions do not apply, because they are for imported records.
 * @throws PostRefused for errors of the body; RelcatError for errors of the catalog
 */
async function decidePost(folder: string, posted: PostedBody): Promise<PostDecision> {
  const config = await loadSettings(folder, undefined);
  const { manifest: body, ignored } =
    posted.kind === "record" ? manifestOfRecord(posted, config) : { manifest: posted.manifest, ignored: [] };
  const version = body.value.release;
  refuseUnopened(folder, body);
  const { manifest: finished, problems } = await finishManifest(body, config);
  const release = await readRelease(folder, version);
  const path = `${version}/manifests/${manifestFileName("post", finished.value)}`;
  const replaced = release.manifests.find((each) => each.file === `${shownFolder}/${path}`);
  const known = new Map(replaced?.value.artifacts.map((each) => [each.file ?? each.name, each]));
  const manifest = withKnownMetadata(finished, known);
  const mine = ownRelease(manifest, problems, release, config);
  const bytes = storedBytes(manifest.value, mine);
  const ledger = soundLedger(folder);
  // Only ledger lines of these artifacts matter here; `check` reports the others.
  const { releases, problems: forbidden } = assignIds([mine], { ...ledger, byId: new Map() }, () => true);
  const packages = releases.flatMap((identified) => identified.packages);
  const others = { ...release, manifests: release.manifests.filter((each) => each !== replaced) };
  refuseConflicts([
    ...conflictsWith(others, mine, config),
    ...lostArtifacts(known, mine, path),
    ...forbidden.map(sentence),
  ]);
  if (ledger.versions.has(version)) {
    refuseConflicts(changesOfCut(version, packages));
    refuseConflicts(changedFacts(manifest.value, known));
  }
  const file = `${folder}/${path}`;
  const present = readIfPresent(file);
  const isSameFile = present && Buffer.compare(present, bytes) === 0;
  return {
    file,
    bytes,
    result: isSameFile ? "unchanged" : present ? "replaced" : "written",
    records: packages.map((entry) => recordOf(entry, release.release !== undefined)),
    isRecord: posted.kind === "record",
    ignored,
  };
}

/** Cut artifacts cannot change; posting them again unchanged is accepted. */
function changesOfCut(version: string, packages: readonly Package[]): string[] {
  const way = `Open the next release with relcat new ${lineOf(version)}, and post it there.`;
  return packages
    .filter(({ ledgerState }) => ledgerState !== "cut")
    .map(
      ({ artifact }) =>
        `Release ${version} is cut: ${display(artifact.file)} cannot be added or changed. ${way}`,
    );
}

type Artifacts = ReadonlyMap<string, WrittenArtifact>;

/** Keeps metadata that only the replaced manifest has, because a job that posts again may not know it. */
function withKnownMetadata(manifest: Located<Manifest>, known: Artifacts): Located<Manifest> {
  const artifacts = manifest.value.artifacts.map((artifact) => {
    const { package: metadata, documents } = known.get(artifact.file ?? artifact.name) ?? {};
    return {
      ...artifact,
      ...(metadata && !artifact.package && { package: metadata }),
      ...(documents && !artifact.documents && { documents }),
    };
  });
  return { ...manifest, value: { ...manifest.value, artifacts } };
}

/** Metadata of a cut artifact is settled; `ingest` replaces it where the bytes are. */
function changedFacts({ release, artifacts }: Manifest, known: Artifacts): string[] {
  return artifacts.flatMap((artifact) => {
    const name = artifact.file ?? artifact.name;
    const before = known.get(name);
    return (["package", "documents"] as const)
      .filter((member) => before?.[member] && !isSame(before[member], artifact[member]))
      .map((member) => `Release ${release} is cut: ${member} of ${display(name)} cannot be changed.`);
  });
}

function refuseUnopened(folder: string, { value: { release }, place }: Located<Manifest>): void {
  // biome-ignore lint/plugin: the schema accepts only versions.
  if (exists(`${folder}/${release}`)) return;
  const message = `There is no release ${release}. It is opened with relcat new ${lineOf(release)}.`;
  throw invalid(place(["release"]).path ?? [], message);
}

/** Messages use this name, so that clients do not learn the server's paths. */
const shownFolder = "releases";

async function readRelease(folder: string, version: string): Promise<ParsedRelease> {
  const list = async () =>
    (await listFiles(`${folder}/${version}`, inProject(folder))).map((path) => `${version}/${path}`);
  const source: AuthoredFiles = { ...filesIn(folder), list };
  const found = await discover(shownFolder, source);
  const files = found.releases[0] ?? { version, release: undefined, manifests: [] };
  return parseRelease(shownFolder, { ...files, notes: [] }, source);
}

/** @throws PostRefused with the earlier problems and every rule that an artifact breaks */
function ownRelease(
  manifest: Located<Manifest>,
  earlier: readonly Problem[],
  release: ParsedRelease,
  config: Settings,
): Release {
  const parsed = { ...release, manifests: [manifest], problems: [] };
  const { release: mine, problems } = normalizeRelease(parsed, config);
  // Errors in release.yaml are not the client's; a missing revision is reported once per image.
  const withoutRevision = new Set(earlier.map(({ at }) => String(at?.path)));
  const found = checkRelease(parsed, config)
    .filter(({ at, severity }) => severity === "error" && at?.file === postedName)
    .filter(({ at, code }) => code !== "vendor-required" || !withoutRevision.has(String(at?.path)));
  refuseInvalid([...earlier, ...found, ...problems]);
  return mine;
}

function storedBytes({ release, artifacts }: Manifest, mine: Release): Uint8Array {
  const text = manifestText({ release, artifacts: artifacts.toSorted(inOrderOf(mine)) });
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxPostedBytes) return bytes;
  const message = `The manifest would be stored in ${bytes.length} bytes, expected at most ${maxPostedBytes}.`;
  throw new PostRefused("too-large", message);
}

function conflictsWith(others: ParsedRelease, mine: Release, config: Settings): string[] {
  const { release, problems: known } = normalizeRelease(others, config);
  const before = new Set(known.map(({ message }) => message));
  const { problems } = mergeArtifacts([...release.artifacts, ...mine.artifacts]);
  return problems.filter(({ message }) => !before.has(message)).map(sentence);
}

/** Detects another manifest with the same name, which contains only eight digits of the artifacts' digest. */
function lostArtifacts(known: Artifacts, { artifacts }: Release, path: string): string[] {
  const kept = new Set(artifacts.map(({ file }) => file));
  const lost = known.keys().find((name) => !kept.has(name));
  return lost === undefined ? [] : [`${shownFolder}/${path} has the same name, but holds ${display(lost)}.`];
}

/** Names both sides of a conflict: one in the message, the other as its location. */
function sentence(problem: Problem): string {
  const { at } = problem;
  const where = at && at.file !== postedName ? `${at.file}:${at.line}: ` : "";
  return `${where}${messageOf(problem)}`;
}

/** @param isDated true if the release has a date, which replaces the date of the cut */
function recordOf(entry: Package, isDated: boolean): Readonly<Record<string, unknown>> {
  const record = publishedRecord(entry);
  if (entry.ledgerState !== "new") return record;
  return { ...record, id: null, ...(!isDated && { created_date: null, modified_date: null }) };
}

/** Cached: parsing thousands of lines for every post would block the server. */
let last: { folder: string; bytes: Uint8Array; ledger: Ledger } | undefined;

/** @throws RelcatError with every problem of the ledger, because an invalid ledger protects nothing */
function soundLedger(folder: string): Ledger {
  const name = "ledger.jsonl";
  const bytes = filesIn(folder).read(name) ?? new Uint8Array();
  if (last?.folder === folder && Buffer.compare(last.bytes, bytes) === 0) return last.ledger;
  const { ledger, problems } = loadLedger({ folder, ledger: name }, filesOf(new Map([[name, bytes]])));
  throwErrors(problems);
  last = { folder, bytes, ledger };
  return ledger;
}

type Wire = Settings["wire"];

/**
 * Problems refer to the record's fields. @throws PostRefused with every invalid field
 * @returns `ignored`: unknown members, and members that the ledger decides
 */
function manifestOfRecord(
  { source, syntax, value }: PostedBody & { kind: "record" },
  { wire }: Settings,
): { manifest: Located<Manifest>; ignored: string[] } {
  const schema = writableSchema(wire);
  const { document, problems } = checkShape(source, syntax, schema);
  if (!document) refuseInvalid(problems);
  const { value: record, place, file } = document as Located<z.infer<typeof schema>>;
  return {
    manifest: {
      file,
      value: { release: record.version, artifacts: [artifactOf(record, wire)] },
      place: (path, part) => place(pathInRecord(path, wire), part),
    },
    ignored: Object.keys(value).filter((member) => !Object.hasOwn(schema.shape, member)),
  };
}

/** The 14 fields that the author of a record sets; except the identity, all have defaults. */
function writableSchema(wire: Wire) {
  const { id: _, created_date: _created, modified_date: _modified, ...writable } = recordShape(wire).shape;
  const { name, version, checksum, package_type } = packageRecordSchema.shape;
  const required = { name, version, checksum, package_type };
  return z.object({ ...writable, ...required }, expects("wrong-type", "an object"));
}

type Writable = z.infer<ReturnType<typeof writableSchema>>;

function artifactOf({ version: _, checksum, data, ...rest }: Writable, wire: Wire): WrittenArtifact {
  const fields = { ...rest, sha256: checksum, ...neutralData(data, wire) };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as WrittenArtifact;
}

/** Field of a record that corresponds to `path` in its manifest. */
function pathInRecord([top, , field, ...rest]: Path, wire: Wire): Path {
  if (top === "release") return ["version"];
  if (field === undefined) return [];
  if (field === "sha256") return ["checksum"];
  if (field === "file") return ["name"];
  if (field === "store") return ["data", field, ...rest];
  if (field === "vendor") return ["data", wire.vendor, ...rest];
  if (field !== "attestation") return [field, ...rest];
  const named = rest.map((key, index) =>
    index === 0 && key === "cryptolib_post" ? wire.cryptolib_post : key,
  );
  return ["data", field, ...named];
}

/** Adds derived fields, and merges identical duplicates. @throws PostRefused if parts contradict each other */
async function finishManifest(posted: Located<Manifest>, config: Settings) {
  const merged = await mergedOf(posted, config);
  const names = posted.value.artifacts.map(({ file, name }) => file ?? name);
  const artifacts: WrittenArtifact[] = [];
  const positions: number[] = [];
  const problems: Problem[] = [];
  for (const file of merged.job.files) {
    const found = describeFile(file, undefined, { ...merged, config, settings: {} });
    problems.push(...found.problems.map(withOwnHint));
    if (!found.artifact) continue;
    artifacts.push(found.artifact);
    positions.push(names.indexOf(file.name));
  }
  const manifest: Located<Manifest> = {
    file: posted.file,
    value: { release: merged.version, artifacts },
    place: ([top = "", index, ...rest], part) =>
      posted.place(index === undefined ? [top] : [top, positions[Number(index)] ?? 0, ...rest], part),
  };
  return { manifest, problems };
}

async function mergedOf(posted: Located<Manifest>, config: Settings): Promise<MergedEvidence> {
  if (posted.value.artifacts.length === 0) throw invalid(["artifacts"], "This list may not be empty.");
  try {
    return await mergeEvidence(
      gather([evidenceOf(posted)]),
      { release: undefined, revision: undefined },
      config,
    );
  } catch (error) {
    if (error instanceof RelcatError) refuseInvalid(error.problems.map(withOwnHint));
    throw error;
  }
}

/** Hints for clients, where ingest's hints name command-line options. */
const waysOut: Partial<Record<Code, string>> = {
  "revision-missing": "State it as vendor.rev, or take image out of require.vendor in catalog.yaml.",
  "ingest-conflict": "One file has one description: leave one of the two out.",
};

function withOwnHint(problem: Problem): Problem {
  const hint = waysOut[problem.code];
  return hint === undefined ? problem : { ...problem, hint };
}
