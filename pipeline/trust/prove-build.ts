import { z } from "zod";
import { relativePathSchema } from "../documents/relative-path.ts";
import { type BuildDocument, buildSchema } from "../documents/site.ts";
import { verified } from "./live-metadata.ts";
import {
  metadataPath,
  readSnapshot,
  readTargets,
  type SignedRoot,
  type SignedSnapshot,
  sha256,
  targetName,
} from "./metadata.ts";
import { pathsOf } from "./roles.ts";

interface ProvedFile {
  sha256: string;
  size: number;
}

/** A build completely covered by one of our signatures. */
export interface ProvedBuild {
  /** SHA-256 of build.json. */
  id: string;
  document: BuildDocument;
  bytes: Uint8Array;
  /** Every file in the signed lists: the build's own files and their signatures. */
  files: ReadonlyMap<string, ProvedFile>;
}

/** Reads files of an earlier publish. Their content is not trusted. */
type ReadKept = (path: string) => Promise<Uint8Array | undefined>;

/** Part of a build without a valid signature of ours. */
export class Unproved extends Error {
  readonly path: string;
  /** Sentence continuation after the path, such as "is missing". */
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(`${path} ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}

const filesSchema = z.object({
  schema_version: z.literal(1),
  files: z.record(relativePathSchema, z.object({ sha256: z.string(), size: z.int() })),
});

/**
 * Verifies a stored build top-down: snapshot → roles → file lists → build.json and its files. Expiry is
 * ignored, because the signatures of an earlier build may have expired.
 * @param snapshot path of the snapshot, as the storage states it
 * @param root newest root of `releases/trust/`
 * @throws Unproved
 */
export async function proveBuild(read: ReadKept, snapshot: string, root: SignedRoot): Promise<ProvedBuild> {
  const signed = await signedSnapshot(read, snapshot, root);
  const files = new Map<string, ProvedFile>();
  for (const [path, target] of await targetsOf(read, signed, root)) {
    if (!path.endsWith("/files.json")) continue;
    const bytes = await readAs(read, targetName(path, target.sha256), target);
    const { files: listed } = parsed(filesSchema, bytes, path);
    for (const [name, file] of Object.entries(listed)) files.set(name, file);
  }
  const bytes = await readAs(read, "build.json", files.get("build.json"));
  const document = parsed(buildSchema, bytes, "build.json");
  for (const [path, file] of Object.entries(document.files)) {
    if (path.startsWith("hosting/")) continue;
    const known = files.get(path);
    if (known?.sha256 !== file.sha256 || known.size !== file.size)
      throw new Unproved(path, "is not in the signed lists of files as build.json has it");
  }
  return { id: sha256(bytes), document, bytes, files };
}

async function signedSnapshot(read: ReadKept, path: string, root: SignedRoot): Promise<SignedSnapshot> {
  const bytes = await read(path);
  if (!bytes) throw new Unproved(path, "is missing");
  const snapshot = verified(bytes, readSnapshot, root, "snapshot");
  if (!snapshot) throw new Unproved(path, notSigned);
  return snapshot;
}

export const notSigned = "is not signed by the online key of the newest root in releases/trust";

/** Targets of the online roles, each restricted to the role's paths. */
async function targetsOf(read: ReadKept, snapshot: SignedSnapshot, root: SignedRoot) {
  const targets = new Map<string, ProvedFile>();
  for (const [name, meta] of Object.entries(snapshot.metadata.signed.meta)) {
    const role = name.slice(0, -".json".length);
    if (role === "targets") continue;
    const path = metadataPath(role, meta.version);
    const bytes = await read(path);
    if (!bytes) throw new Unproved(path, "is missing");
    const document = verified(bytes, readTargets, root, role, meta);
    if (!document) throw new Unproved(path, notSigned);
    const prefixes = pathsOf(role).map((pattern) => pattern.slice(0, pattern.indexOf("*")));
    for (const [target, { length, hashes }] of Object.entries(document.metadata.signed.targets)) {
      if (!prefixes.some((prefix) => target.startsWith(prefix)))
        throw new Unproved(path, `names ${target}, which is outside of its role`);
      targets.set(target, { sha256: hashes.sha256 ?? "", size: length });
    }
  }
  return targets;
}

async function readAs(read: ReadKept, path: string, file: ProvedFile | undefined): Promise<Uint8Array> {
  const bytes = file && (await read(path));
  if (!file || !bytes) throw new Unproved(path, file ? "is missing" : "is not in the signed lists of files");
  if (bytes.length !== file.size || sha256(bytes) !== file.sha256)
    throw new Unproved(path, "is not what was signed");
  return bytes;
}

function parsed<T>(schema: z.ZodType<T>, bytes: Uint8Array, path: string): T {
  const result = schema.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
  if (result.success) return result.data;
  throw new Unproved(path, "was signed, but is not a document that this version of relcat reads");
}
