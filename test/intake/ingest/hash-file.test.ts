import { createHash } from "node:crypto";
import { appendFileSync, renameSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hashFile } from "../../../pipeline/system/file-source.ts";
import { RelcatError } from "../../../shared/errors.ts";
import { temporaryFolder } from "../../support/run.ts";

const chunk = 1024 * 1024;
/** Large enough for a thread, which reports after each part. */
const part = 16 * chunk;

function fileOf(size: number): { path: string; bytes: Buffer } {
  const path = join(temporaryFolder(), "artifact");
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; at++) bytes[at] = (at * 31 + (at >> 8)) & 255;
  writeFileSync(path, bytes);
  return { path, bytes };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "no error",
    (error: unknown) => {
      if (!(error instanceof RelcatError)) throw error;
      return `${error.code}: ${error.problems[0]?.message.replace(/\/[^ ]*\/relcat-test-[^ ]*\//, "")}`;
    },
  );

const short = [0, 1, chunk, 2 * chunk, 2 * chunk + 1, 3 * chunk, 3 * chunk + 17];
test.each([...short, 8 * chunk, 9 * chunk + 1, part - 1, part, part + 1, 2 * part])(
  "a file of %i bytes has its digest, size and progress",
  async (size) => {
    const { path, bytes } = fileOf(size);
    const seen: number[] = [];
    const measured = await hashFile(path, (done) => seen.push(done));
    expect(measured).toEqual({ sha256: createHash("sha256").update(bytes).digest("hex"), size });
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    if (size > 0) expect(seen.at(-1)).toBe(size);
  },
);

test.each<[string, (path: string) => void]>([
  ["grows", (path) => appendFileSync(path, "more")],
  ["shrinks", (path) => writeFileSync(path, "less")],
  ["is written again with the same size", (path) => writeFileSync(path, Buffer.alloc(3 * chunk, 1))],
  [
    "is replaced by another",
    (path) => {
      writeFileSync(`${path}.new`, Buffer.alloc(3 * chunk));
      renameSync(`${path}.new`, path);
    },
  ],
  [
    "is touched back to its old time",
    (path) => {
      writeFileSync(path, Buffer.alloc(3 * chunk, 1));
      utimesSync(path, 1, 1);
    },
  ],
])("a file that %s while it is read is an error", async (_, change) => {
  const { path } = fileOf(3 * chunk);
  utimesSync(path, 1, 1);
  let changes = 0;
  const hashing = hashFile(path, () => {
    if (changes++ === 0) change(path);
  });
  expect(await codeOf(hashing)).toBe("file-changed: artifact was changed while it was read");
});

test("a file that is removed while it is read, or is unreadable, is an error", async () => {
  const { path } = fileOf(3 * chunk);
  expect(await codeOf(hashFile(path, () => rmSync(path, { force: true })))).toBe(
    "file-access: cannot read artifact: there is no such file",
  );
  expect(await codeOf(hashFile(path))).toBe("file-access: cannot read artifact: there is no such file");
  expect(await codeOf(hashFile("/tmp"))).toBe("file-access: cannot read /tmp: it is a folder");
});

test("more files than threads have the digests of their bytes, also after one of them failed", async () => {
  const files = Array.from({ length: 9 }, (_, index) => fileOf((8 + index) * chunk + index));
  const digests = files.map(({ bytes }) => createHash("sha256").update(bytes).digest("hex"));
  const bad = fileOf(16 * chunk);
  const failing = hashFile(bad.path, () => truncateSync(bad.path, 100));
  expect(await codeOf(failing)).toContain("file-changed");
  const hashed = await Promise.all(files.map(({ path }) => hashFile(path)));
  expect(hashed.map(({ sha256 }) => sha256)).toEqual(digests);
});
