import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { SiteIndex, SiteState } from "../../pipeline/documents/site-state.ts";
import type { S3Fake } from "../support/s3-fake.ts";
import { etagOf, prefix } from "./bucket-support.ts";

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** The storage of a site for an attacker with write access and without a key. */
export interface Storage {
  read(path: string): Buffer;
  write(path: string, bytes: Buffer): void;
}

export const folderStorage = (www: string): Storage => ({
  read: (path) => readFileSync(join(www, path)),
  write: (path, bytes) => writeFileSync(join(www, path), bytes),
});

const bucketStorage = ({ bucket }: S3Fake): Storage => ({
  read: (path) => bucket.objects.get(`${prefix}${path}`)?.bytes ?? Buffer.alloc(0),
  write: (path, bytes) => {
    const headers = bucket.objects.get(`${prefix}${path}`)?.headers ?? {};
    bucket.objects.set(`${prefix}${path}`, { bytes, etag: etagOf(bytes), headers });
  },
});

export const stateOf = (storage: Storage): SiteState => JSON.parse(storage.read("current.json").toString());

const signedPath = /^(metadata|targets)\//;

/** Replaces text of equal length in all unsigned files of a build, and every digest of them that is not signed. */
function forgedFiles(files: ReadonlyMap<string, Buffer>, from: string, to: string): Map<string, Buffer> {
  const forged = new Map<string, Buffer>();
  const digests: [string, string][] = [];
  for (const [path, bytes] of files) {
    if (signedPath.test(path) || path === "build.json" || !bytes.includes(from)) continue;
    const changed = Buffer.from(bytes.toString("latin1").replaceAll(from, to), "latin1");
    forged.set(path, changed);
    digests.push([sha256(bytes), sha256(changed)]);
  }
  let build = files.get("build.json")?.toString() ?? "";
  for (const [before, after] of digests) build = build.replaceAll(before, after);
  return forged.set("build.json", Buffer.from(build));
}

/** Writes a forged build to all its places in the storage: public files, kept builds, index and state. */
export function forgeFolder(www: string, entry: number, from: string, to: string): void {
  const storage = folderStorage(www);
  const state = stateOf(storage);
  const name = state.history[entry]?.files ?? "";
  const index: SiteIndex = JSON.parse(storage.read(`state/${name}.json`).toString());
  const files = new Map(
    Object.keys(index.files).map((path) => [path, storage.read(`builds/${name}/${path}`)]),
  );
  const forged = forgedFiles(files, from, to);
  for (const [path, bytes] of forged) storage.write(`builds/${name}/${path}`, bytes);
  storage.write(`state/${name}.json`, Buffer.from(JSON.stringify(withDigests(index, forged))));
  writeState(storage, state, entry, forged);
}

export function forgeBucket(fake: S3Fake, entry: number, from: string, to: string): void {
  const storage = bucketStorage(fake);
  const state = stateOf(storage);
  const name = state.history[entry]?.files ?? "";
  const key = `state/${name}.json.gz`;
  const index: SiteIndex = JSON.parse(gunzipSync(storage.read(key)).toString());
  const bundles = new Map<string, Buffer>();
  const bundleOf = (bundle: string) =>
    bundles.get(bundle) ?? gunzipSync(storage.read(`state/${bundle}.bundle.gz`));
  const files = new Map(
    Object.entries(index.files).flatMap(([path, { bundle, offset = 0, size }]) =>
      bundle === undefined ? [] : [[path, bundleOf(bundle).subarray(offset, offset + size)] as const],
    ),
  );
  const forged = forgedFiles(files, from, to);
  for (const [path, bytes] of forged) {
    const { bundle = "", offset = 0 } = index.files[path] ?? {};
    const whole = bundleOf(bundle);
    bytes.copy(whole, offset);
    bundles.set(bundle, whole);
    if (entry === 0) storage.write(path, bytes);
  }
  for (const [bundle, bytes] of bundles) storage.write(`state/${bundle}.bundle.gz`, gzipSync(bytes));
  const list = forged.get("api/v1/package/index.json");
  if (entry === 0 && list) storage.write("api/v1/package/", list);
  storage.write(key, gzipSync(JSON.stringify(withDigests(index, forged))));
  writeState(storage, state, entry, forged);
}

function withDigests(index: SiteIndex, forged: ReadonlyMap<string, Buffer>): SiteIndex {
  const list = forged.get("api/v1/package/index.json");
  const all = new Map(list ? [...forged, ["api/v1/package/", list] as const] : forged);
  for (const [path, bytes] of all) {
    const file = index.files[path];
    if (file) Object.assign(file, { sha256: sha256(bytes), ...(file.etag && { etag: etagOf(bytes) }) });
  }
  return { ...index, build: sha256(forged.get("build.json") ?? Buffer.alloc(0)) };
}

function writeState(storage: Storage, state: SiteState, entry: number, forged: ReadonlyMap<string, Buffer>) {
  const build = sha256(forged.get("build.json") ?? Buffer.alloc(0));
  const kept = state.history[entry];
  if (kept) kept.build = build;
  storage.write("current.json", Buffer.from(JSON.stringify(entry === 0 ? { ...state, build } : state)));
}
