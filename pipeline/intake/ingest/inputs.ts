import { basename, dirname } from "node:path/posix";
import type { Settings } from "../../documents/config.ts";
import { giveWhole, isShortened } from "../../project/display.ts";
import { readFiles } from "../../system/files.ts";
import { type PathInfo, pathInfo, readHead } from "../../system/input-files.ts";
import { isIgnored, ruleFor } from "./built-in-rules.ts";
import { type Evidence, type FoundFile, gather, problem, wholeFile } from "./evidence.ts";
import { readFolder } from "./formats/output-folder.ts";
import {
  accepted,
  isNamedAsDocument,
  maxInputBytes,
  mayBeDocument,
  type Recognised,
  recognise,
} from "./formats/recognise.ts";
import { isSidecar } from "./formats/sidecars.ts";
import { isStoreBase, nameOf, storePathOf } from "./formats/store-path.ts";
import type { Sum } from "./formats/sums.ts";
import { mainOutputs, withoutFiles } from "./join.ts";

interface Reading {
  config: Settings;
  /** Names listed in checksum files; their bytes need not be available. undefined: no such files are read. */
  sums: ReadonlyMap<string, Sum> | undefined;
  /** Names of files that are for download, whatever the rules say. */
  named: ReadonlySet<string>;
}

/** Merges all inputs, in any order; if they contain no file, the checksum files list them. */
export async function readEvidence(
  paths: readonly string[],
  config: Settings,
  sums: ReadonlyMap<string, Sum> | undefined,
  named: ReadonlySet<string> = new Set(),
): Promise<Evidence> {
  const reading = { config, sums, named };
  const given = await readInputs(paths, reading);
  const evidence = gather([given, await readInputs(builtOutputs(given), reading)]);
  if (evidence.files.length > 0) return evidence;
  return {
    ...evidence,
    files: [...(sums?.values() ?? [])].map(({ name, path, at }) => ({ name, paths: [path], at })),
  };
}

async function readInputs(paths: readonly string[], reading: Reading): Promise<Evidence> {
  const parts: Partial<Evidence>[] = [];
  for (const path of paths) parts.push(await readInput(path, reading));
  return gather(parts);
}

/** Outputs of which no input names a file. A file outside the store may come from any build: then there are none. */
function builtOutputs({ files, builds }: Evidence): string[] {
  if (files.some(({ store }) => store === undefined)) return [];
  return mainOutputs(withoutFiles(builds, files)).filter((path) => pathInfo(path).kind !== "missing");
}

async function readInput(path: string, reading: Reading): Promise<Partial<Evidence>> {
  if (isSidecar(path)) return { sidecars: [path] };
  const info = pathInfo(path);
  if (info.kind === "missing") return missing(path, reading);
  if (info.kind !== "folder") return readFile(path, info, reading);
  const found = await readFolder(path, info.realPath, (inside) => readInput(inside, reading));
  const through = storePathOf(info.realPath);
  return { ...found, files: found.files.map((file) => ({ ...file, ...(through && { through }) })) };
}

function missing(path: string, { sums }: Reading): Partial<Evidence> {
  if (sums?.has(basename(path))) return { files: [{ name: basename(path), paths: [], at: wholeFile(path) }] };
  const hint = missingHint(path, sums !== undefined);
  return { problems: [problem("input-missing", wholeFile(path), `there is no file ${path}`, hint)] };
}

function missingHint(path: string, mayHaveSums: boolean): string {
  if (/^[a-z]+:\/\//i.test(path))
    return `relcat reads files, not addresses: download it${mayHaveSums ? ", or give its checksum file with --sums" : ""}.`;
  if (/[*?]/.test(path))
    return "The shell found nothing that matches the pattern: check what the build wrote, and where.";
  if (isShortened(path)) return giveWhole;
  return `Check the path${mayHaveSums ? "; for a file that is not here, give its checksum file with --sums" : ""}.`;
}

async function readFile(
  path: string,
  info: PathInfo,
  { config, named }: Reading,
): Promise<Partial<Evidence>> {
  const { kind, realPath, size } = info;
  const name = basename(path);
  const file = () => ({ files: [plainFile(path, realPath)] });
  if (named.has(name)) return file();
  if (isIgnored(name, config)) return { leftOut: [`${name} (ignore: in catalog.yaml)`] };
  const [beside, what] = neighbourOf(path, config);
  if (beside) return { leftOut: [`${name} (${what} of ${beside})`] };
  const reason = ruleFor(name, config) ? undefined : sideFileReason(name);
  if (reason !== undefined) return { leftOut: [`${name} (${reason})`] };
  if (kind === "file" && (size > maxInputBytes || !mayBeDocument(name, readHead(path, 4096)))) return file();
  const [bytes = new Uint8Array()] = await readFiles([path]);
  const recognised = recognise(path, bytes);
  if ("known" in recognised) return recognised.known;
  if ("sums" in recognised) return { leftOut: [`${name} (a checksum file; --sums reads it)`] };
  if (kind === "file" && isForDownload(path, recognised, config)) return file();
  if ("problem" in recognised) return { problems: [recognised.problem] };
  const message = `${recognised.seen} is not a build output that relcat recognizes`;
  const hint = `Accepted: ${accepted}. A file that is itself for download needs a rule in ingest: of catalog.yaml.`;
  return { problems: [problem("input-unknown", wholeFile(path), message, hint)] };
}

/** An unknown document needs a rule or a sidecar; binary data is always downloadable. */
function isForDownload(path: string, recognised: Recognised, config: Settings): boolean {
  const name = basename(path);
  if (ruleFor(name, config) || pathInfo(`${path}.relcat.yaml`).kind === "file") return true;
  const isBinary = "problem" in recognised && recognised.problem.code === "file-encoding";
  return isBinary && !isNamedAsDocument(name);
}

/** A downloadable file, named directly or through its folder. */
function plainFile(path: string, realPath: string): FoundFile {
  const own = basename(realPath);
  const [store, through] = [realPath, pathInfo(dirname(path)).realPath].map(storePathOf);
  // If a store path is itself a file, its hash is not part of the download name. Links in outputs have their own names.
  const isOutput = !through && isStoreBase(own) && store?.endsWith(`/${own}`);
  return {
    name: isOutput ? nameOf(own) : basename(path),
    paths: [path, realPath],
    store,
    through,
    at: wholeFile(path),
  };
}

/**
 * The file beside a document or a detached signature, which is read with it; empty: neither, or an artifact itself. The
 * provenance of a chart is always read, other signatures only if there are signers.
 */
function neighbourOf(path: string, config: Settings): [file?: string, what?: string] {
  if (ruleFor(basename(path), config)) return [];
  const signatures = config.policies.size > 0 ? [".prov", ".asc"] : [".prov"];
  const endings = [
    ...config.documents.map(({ ending }) => [ending, "a document"] as const),
    ...signatures.map((ending) => [ending, "the signature"] as const),
  ];
  for (const [ending, what] of endings) {
    const file = path.endsWith(ending) ? path.slice(0, -ending.length) : undefined;
    if (file !== undefined && pathInfo(file).kind === "file") return [basename(file), what];
  }
  return [];
}

/** Files that builds write next to what people download, with the reason for leaving them out. */
const sideFiles: readonly [name: RegExp, reason: string][] = [
  [/(^|[._-])sha256sums?(\.txt)?$/i, "a checksum file; --sums reads it"],
  [/\.sha256(sum)?$/i, "a checksum file; --sums reads it"],
  [/(^|[._-])(sha(1|224|384|512)|md5|b2)sums?(\.txt)?$/i, "a checksum file"],
  [/\.(md5|sha1|sha224|sha384|sha512|b2|b3)(sum)?$/i, "a checksum file"],
  [/\.(asc|sig|minisig|sign|p7s)$/i, "a signature"],
  [/\.(sigstore|sigstore\.json|bundle\.sigstore|intoto\.jsonl)$/i, "a signed statement"],
  [/\.(sbom|spdx|cdx|cyclonedx)(\.(json|xml|ya?ml|rdf|tv))?$/i, "a list of components"],
];

/** Reason why a file is not for download, by its usual name; undefined: it may be. */
export const sideFileReason = (name: string): string | undefined =>
  sideFiles.find(([pattern]) => pattern.test(name))?.[1];
