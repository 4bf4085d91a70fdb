import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { inspectImage } from "../../inspect/images/image.ts";
import { type FileSource, fileSource } from "../../pipeline/system/file-source.ts";
import { RelcatError } from "../../shared/errors.ts";
import { optionsWith } from "../support/artifacts.ts";
import { mbrDisk } from "../support/images.ts";
import { temporaryFolder } from "../support/run.ts";

const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => (index * 31) & 255));
const digest = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");

function opened(content: Uint8Array = bytes): { path: string; source: FileSource } {
  const path = join(temporaryFolder(), "artifact");
  writeFileSync(path, content);
  const source = fileSource(path);
  onTestFinished(() => source.close());
  return { path, source };
}

const codeOf = (work: () => unknown): Promise<string> =>
  Promise.resolve()
    .then(work)
    .then(
      () => "no error",
      (error: unknown) => {
        if (error instanceof RelcatError) return error.code;
        throw error;
      },
    );

/** Bytes that this process has read from files so far. */
const bytesRead = () => Number(readFileSync("/proc/self/io", "utf8").match(/^rchar: (\d+)$/m)?.[1]);

describe.each([
  ["long", bytes],
  ["short", bytes.subarray(0, 5000)],
] as const)("a file that is %s", (_, content) => {
  test("can be read at any position and in order at the same time", async () => {
    const { source } = opened(content);
    expect([source.name, source.size]).toEqual(["artifact", content.length]);
    const seen: Buffer[] = [];
    await source.each((chunk, at) => {
      expect(Buffer.from(source.read(at + 1, 3)).equals(content.subarray(at + 1, at + 4))).toBe(true);
      seen.push(Buffer.from(chunk));
    });
    expect(Buffer.concat(seen).equals(content)).toBe(true);
    expect(source.read(content.length, 0)).toHaveLength(0);
    expect(() => source.read(content.length - 1, 2)).toThrow(
      `artifact ends at byte ${content.length}, expected 2 bytes from ${content.length - 1} on`,
    );
  });

  test("has the digest of its first complete pass, or of an additional one", async () => {
    const { source } = opened(content);
    const before = bytesRead();
    await expect(
      source.each(() => {
        throw new Error("enough");
      }),
    ).rejects.toThrow("enough");
    expect(await source.sha256()).toBe(digest(content));
    const again = bytesRead();
    expect(await source.sha256()).toBe(digest(content));
    expect(bytesRead() - again).toBeLessThan(1000);
    expect(again - before).toBeLessThan(3 * content.length);
  });

  test.each<[string, (path: string) => void]>([
    ["grows", (path) => appendFileSync(path, "more")],
    ["shrinks", (path) => writeFileSync(path, "less")],
    ["is written again", (path) => writeFileSync(path, content)],
    [
      "is replaced",
      (path) => {
        writeFileSync(`${path}.new`, content);
        renameSync(`${path}.new`, path);
      },
    ],
  ])("is an error if it %s after its digest was computed", async (_, change) => {
    const { path, source } = opened(content);
    await source.sha256();
    change(path);
    expect(await codeOf(() => source.sha256())).toBe("file-changed");
    expect(await codeOf(() => source.each(() => {}))).toBe("file-changed");
  });

  test("is an error if it shrinks before a read at a position", async () => {
    const { path, source } = opened(content);
    writeFileSync(path, "less");
    expect(await codeOf(() => source.read(1000, 10))).toBe("file-changed");
  });
});

test("a short file is read once for any number of reads", async () => {
  const { source } = opened(bytes.subarray(0, 5000));
  const before = bytesRead();
  for (let at = 0; at < 5000; at += 100) source.read(at, 100);
  await source.sha256();
  expect(bytesRead() - before).toBeLessThan(2 * 5000);
});

test("a short file that was replaced before it is read is an error", async () => {
  const { path, source } = opened(bytes.subarray(0, 5000));
  writeFileSync(`${path}.new`, bytes.subarray(0, 5000));
  renameSync(`${path}.new`, path);
  expect(await codeOf(() => source.read(0, 16))).toBe("file-changed");
});

test.each([
  ["uncompressed", mbrDisk([0x83], 3 << 20)],
  [
    "compressed",
    gzipSync(Buffer.from(Array.from({ length: 3 << 20 }, (_, index) => (index * index * 7) & 255))),
  ],
])("an image that is %s is read once for its digest and its inspection", async (_, content) => {
  const { source } = opened(content);
  const before = bytesRead();
  await inspectImage(source, optionsWith({ openpgp: [], x509: [] }));
  expect(await source.sha256()).toBe(digest(content));
  // The reader's modules are read once, by the first of these tests.
  expect(bytesRead() - before).toBeLessThan(content.length * 1.1 + 400_000);
});

test("a missing file and a folder are errors", async () => {
  expect(await codeOf(() => fileSource("/nowhere/at/all"))).toBe("file-access");
  const folder = fileSource("/tmp");
  onTestFinished(() => folder.close());
  expect(await codeOf(() => folder.read(0, 1))).toBe("file-access");
});
