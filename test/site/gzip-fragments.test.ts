import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { execa } from "execa";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { TextPart } from "../../pipeline/documents/published.ts";
import { type Cache, cacheIn } from "../../pipeline/journal/cache.ts";
import { gzipOf } from "../../pipeline/journal/gzip-fragments.ts";
import { often } from "../support/effort.ts";
import { temporaryFolder } from "../support/run.ts";

const fresh = () => cacheIn(temporaryFolder(), process.pid, 0) as Cache;

let made = 0;
/** Each under the digest of its text, as a release's part is under that of what it is made of. */
const partsOf = (texts: readonly string[]): TextPart[] =>
  texts.map((text) => ({
    key: text.length < 30 ? null : createHash("sha256").update(text).digest("hex"),
    text: () => {
      made++;
      return text;
    },
  }));

const joined = (texts: readonly string[], cache: Cache, program = "one") =>
  Buffer.concat([...gzipOf(partsOf(texts), { cache, program })]);

const part = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.integer({ min: 1, max: 9 }).map((seed) => `{"name":"package ${seed}"}`.repeat(700 * seed)),
);

test("whatever the parts are, they are one gzip member of the whole text, kept or not", () => {
  const cache = fresh();
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const first = joined(parts, cache);
      expect(gunzipSync(first).toString()).toBe(Buffer.from(parts.join("")).toString());
      expect(joined(parts, cache).equals(first)).toBe(true);
    }),
    { numRuns: often(200, 40) },
  );
});

test("gzip reads it, and sees one member", async () => {
  const text = ["[", "a".repeat(5000), ",", '{"b":2}'.repeat(900), "]"];
  const bytes = joined(text, fresh());
  const { stdout } = await execa("gzip", ["-dc"], { input: bytes });
  expect(stdout).toBe(text.join(""));
  const list = await execa("gzip", ["-lv"], { input: bytes, reject: false });
  expect(list.stdout).toContain(String(text.join("").length));
});

test("the text of a part that was kept is not made again, nor its bytes by another program", async () => {
  const texts = ["x".repeat(3000), "y".repeat(3000)];
  const cache = fresh();
  const good = joined(texts, cache);
  made = 0;
  expect(joined(texts, cache).equals(good)).toBe(true);
  expect(made).toBe(0);
  expect(joined(texts, cache, "another").equals(good)).toBe(true);
  expect(made).toBe(2);
});

test("a part that was damaged in the cache is compressed anew", async () => {
  const texts = ["x".repeat(3000), "y".repeat(3000)];
  const folder = temporaryFolder();
  const cache = cacheIn(folder, process.pid, 0) as Cache;
  const good = joined(texts, cache);
  for (const path of globSync("*/deflate-*", { cwd: folder })) {
    const bytes = readFileSync(join(folder, path));
    bytes.writeUInt8(bytes.readUInt8(50) ^ 1, 50);
    writeFileSync(join(folder, path), bytes);
  }
  made = 0;
  expect(joined(texts, cache).equals(good)).toBe(true);
  expect(made).toBe(2);
});
