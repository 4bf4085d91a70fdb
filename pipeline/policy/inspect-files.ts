import { join } from "node:path";
import { architectureInName } from "../../inspect/architecture.ts";
import type { ByteSource } from "../../inspect/bytes/byte-source.ts";
import { inspectArtifact } from "../../inspect/inspect.ts";
import type { Inspection, InspectOptions } from "../../inspect/inspection.ts";
import type { Keys } from "../../inspect/keys.ts";
import { readMetadata } from "../../inspect/metadata.ts";
import { readKeys } from "../../inspect/read-keys.ts";
import { Fault } from "../../inspect/verdict.ts";
import { failure, type Problem, throwErrors } from "../../shared/errors.ts";
import type { PackageMetadata } from "../../shared/package-metadata.ts";
import type { Kind } from "../../shared/package-types.ts";
import { readFiles } from "../system/files.ts";
import { listFiles } from "../system/folders.ts";
import { type Reading, readFilesAtOnce } from "../system/in-parallel.ts";
import { pathInfo } from "../system/input-files.ts";
import { withNeighbours } from "./sibling-files.ts";

export type { FileSignature, Inspection } from "../../inspect/inspection.ts";

export interface InspectRequest {
  files: readonly string[];
  /** Folder with the certificates of the allowed signers. Undefined: every signature is untrusted. */
  keys?: string | undefined;
  /** Path, inside the package, of the file that contains the self-check hash. */
  selfCheck?: string | undefined;
}

interface InspectContext extends Reading {
  /** Milliseconds since 1970. */
  clock: number;
}

export interface InspectedFile {
  /** The path as the caller gave it. */
  file: string;
  inspection: Inspection;
  /** Metadata of the package; null if it has none, or none that can be read. */
  metadata: PackageMetadata | null;
}

/**
 * The results are in the given order.
 * @throws RelcatError input-missing, folder-missing, key-unusable (before anything is read); file-access, file-changed
 */
export async function inspectFiles(
  { files, keys: folder, selfCheck }: InspectRequest,
  { clock, ...reading }: InspectContext,
): Promise<InspectedFile[]> {
  throwErrors(files.flatMap(missing));
  const keys = folder === undefined ? nobody : await keysIn(folder);
  const sized = files.map((name) => ({ name, size: pathInfo(name).size }));
  return readFilesAtOnce(sized, reading, ({ name }, onBytes) =>
    withNeighbours(name, onBytes, async ({ file, openSibling }) => {
      const inspection = await inspectArtifact(file, { keys, now: clock, selfCheck, openSibling });
      return { file: name, ...(await withMetadata(file, inspection)) };
    }),
  );
}

const nobody: Keys = { openpgp: [], x509: [] };

function missing(file: string): Problem[] {
  const { kind } = pathInfo(file);
  if (kind === "file") return [];
  const message = kind === "missing" ? `there is no file ${file}` : `${file} is a ${kind}, expected a file`;
  return [{ code: "input-missing", severity: "error", message, hint: "Check the path; name each file." }];
}

async function keysIn(folder: string): Promise<Keys> {
  const hint = "Give the folder with the OpenPGP and X.509 certificates of the allowed signers.";
  if (pathInfo(folder).kind !== "folder")
    throw failure("folder-missing", `there is no folder ${folder}`, hint);
  // biome-ignore lint/plugin: the names were listed from a folder that the user named.
  const paths = (await listFiles(folder)).map((name) => join(folder, name));
  const bytes = await readFiles(paths);
  const keys = await readKeys(bytes.map((each, index) => ({ name: paths[index] ?? folder, bytes: each })));
  if (keys.openpgp.length + keys.x509.length > 0) return keys;
  throw failure("key-unusable", `${folder} has no certificate in it, expected one at least`, hint);
}

type Inspected = Omit<InspectedFile, "file">;

async function withMetadata(source: ByteSource, inspection: Inspection): Promise<Inspected> {
  const kind = "virtual_size" in inspection.facts || inspection.type === "incus" ? "image" : "client";
  const arch = inspection.type === "tar" ? architectureInName(source.name) : undefined;
  if (arch) return { inspection, metadata: { type: "archive", arch } };
  try {
    const metadata = await readMetadata(source, { kind, filelists: false, inspection });
    return { inspection, metadata: metadata ?? null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const note = `its package metadata cannot be read: ${error.message}`;
    return { inspection: { ...inspection, notes: [...inspection.notes, note] }, metadata: null };
  }
}

/** An archive has no signature of its own, so its signer is taken from the `.asc` file in the same folder. */
export async function inspectPackage(
  source: ByteSource,
  kind: Kind,
  options: Omit<InspectOptions, "limit">,
): Promise<Inspection> {
  const inspection = await inspectArtifact(source, options);
  const isSigned = inspection.key_id !== null;
  if (kind === "image" || inspection.verdict !== "ok" || isSigned) return inspection;
  const name = `${source.name}.asc`;
  const signature = options.openSibling?.(name);
  const reason = `${name} is not next to it, expected its signature there`;
  if (!signature) return { ...inspection, verdict: "unsigned", reason };
  // Reuses the open source, because the file on disk may have been replaced meanwhile.
  const openSibling = (wanted: string) => (wanted === source.name ? source : undefined);
  const by = await inspectArtifact(signature, { ...options, openSibling });
  return {
    ...inspection,
    verdict: by.verdict,
    reason: by.reason,
    key_id: by.key_id,
    signature: by.signature,
  };
}
