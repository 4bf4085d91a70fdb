/** @module-tag long */
import { createHash } from "node:crypto";
import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Encoding } from "../../pipeline/documents/hosting.ts";
import { writeSibling } from "../../pipeline/site/stores/siblings.ts";
import { temporaryFolder } from "../support/run.ts";

const decoders: Readonly<Record<Encoding, (bytes: Uint8Array) => Buffer>> = {
  gz: gunzipSync,
  br: brotliDecompressSync,
  zst: zstdDecompressSync,
};

/** A build gives its files whole ones. */
const seconds = 1_790_000_000;

/** Digests of numbers: a piece that stood where another belongs would show. */
function digests(size: number): Buffer {
  const lines: string[] = [];
  for (let length = 0; length < size; length += 65)
    lines.push(`${createHash("sha256").update(String(length)).digest("hex")}\n`);
  return Buffer.from(lines.join("")).subarray(0, size);
}

describe.each(Object.keys(decoders) as Encoding[])("%s", (encoding) => {
  test.each([
    ["in one piece", 100_000],
    ["in whole pieces", 5 << 20],
    ["in pieces and a rest", (6 << 20) + 12_345],
  ])("output of a file that is compressed %s has its bytes, at each of its addresses", async (_, size) => {
    const folder = temporaryFolder();
    const bytes = digests(size);
    const paths = ["list.json", "copy.json"] as const;
    for (const path of paths) {
      writeFileSync(join(folder, path), bytes);
      utimesSync(join(folder, path), seconds, seconds);
    }
    for (const path of paths) {
      await writeSibling(folder, join(folder, "work"), { encoding, path });
      const sibling = join(folder, `${path}.${encoding}`);
      expect(decoders[encoding](readFileSync(sibling)).equals(bytes)).toBe(true);
      expect(statSync(sibling).mtimeMs).toBe(seconds * 1000);
    }
  });
});
