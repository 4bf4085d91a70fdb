import { createCipheriv } from "node:crypto";
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type Group, repeated } from "./rounds.ts";
import type { Command } from "./runs.ts";

export const hashing = {
  title: "Hashing in ingest",
  one: "relcat ingest, 1 file",
  opensslOne: "openssl dgst -sha256, 1 file",
  two: "relcat ingest, 2 files",
  twoInParallel: "xargs -P2 -n1 relcat ingest, 2 files",
  opensslTwo: "xargs -P2 -n1 openssl dgst -sha256, 2 files",
  twelve: "relcat ingest, 12 files",
  twelveOnOneCore: "taskset -c 0 relcat ingest, 12 files",
  opensslTwelve: "xargs -P2 -n1 openssl dgst -sha256, 12 files",
} as const;

/** @param size of each file, in bytes; they lie in the page cache after the first round */
export function hashingGroup(relcat: string, work: string, size = 2 ** 30): Group {
  const folder = join(work, "hashing");
  mkdirSync(join(folder, "releases"), { recursive: true });
  const configuration = 'require: {}\ningest:\n  - { match: "*.bin", package_type: xz }\n';
  writeFileSync(join(folder, "releases/catalog.yaml"), configuration);
  const files = ["one.bin", "two.bin"];
  for (const name of files) writeLargeFile(join(folder, name), size);
  const twelve = Array.from({ length: 12 }, (_, index) => `twelve-${index}.bin`);
  for (const name of twelve) {
    const path = join(folder, name);
    if (!existsSync(path)) linkSync(join(folder, "one.bin"), path);
  }
  const entry = (name: string, ...argv: [string, ...string[]]) => {
    const command: Command = { argv, cwd: folder, env: { NODE_COMPILE_CACHE: undefined } };
    return repeated(name, command, join(work, "outs"));
  };
  const options = ["--release", "26.01.001", "--out", "-"];
  const ingest = [process.execPath, relcat, "ingest", ...options] as const;
  const inParallel = (names: readonly string[], ...argv: string[]) =>
    ["sh", "-c", `printf '%s\\n' ${names.join(" ")} | xargs -P2 -n1 "$@"`, "sh", ...argv] as const;
  return {
    title: hashing.title,
    entries: [
      entry(hashing.one, ...ingest, "one.bin"),
      entry(hashing.opensslOne, "openssl", "dgst", "-sha256", "one.bin"),
      entry(hashing.two, ...ingest, ...files),
      entry(hashing.twoInParallel, ...inParallel(files, ...ingest)),
      entry(hashing.opensslTwo, ...inParallel(files, "openssl", "dgst", "-sha256")),
      entry(hashing.twelve, ...ingest, ...twelve),
      entry(hashing.twelveOnOneCore, "taskset", "-c", "0", ...ingest, ...twelve),
      entry(hashing.opensslTwelve, ...inParallel(twelve, "openssl", "dgst", "-sha256")),
    ],
  };
}

/** What no one could compress, the same each time. */
function writeLargeFile(path: string, size: number): void {
  if (existsSync(path) && statSync(path).size === size) return;
  const cipher = createCipheriv("aes-128-ctr", Buffer.alloc(16, path), Buffer.alloc(16));
  const chunk = Buffer.alloc(2 ** 20);
  const unfinished = `${path}.part`;
  const file = openSync(unfinished, "w");
  for (let written = 0; written < size; written += chunk.length) writeSync(file, cipher.update(chunk));
  closeSync(file);
  renameSync(unfinished, path);
}
