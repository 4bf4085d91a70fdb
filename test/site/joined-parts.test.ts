import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { OutputFile } from "../../pipeline/documents/published.ts";
import { type Cache, cacheIn } from "../../pipeline/journal/cache.ts";
import { joinedParts } from "../../pipeline/journal/joined-parts.ts";
import { often } from "../support/effort.ts";
import { temporaryFolder } from "../support/run.ts";

const digest = (text: string) => createHash("sha256").update(text).digest("hex");

/** The texts that were made, in order. */
let made: string[] = [];

/** Of short texts nothing is remembered, as of the commas between releases. */
const fileOf = (texts: readonly string[]): OutputFile => ({
  path: "list.json",
  chunks: [],
  parts: () =>
    texts.map((text) => ({
      key: text.length < 3 ? null : digest(text),
      text() {
        made.push(text);
        return text;
      },
    })),
});

/** Writes the file as a build does. @param before what the build believes to lie there @returns its text */
function write(
  out: string,
  cache: Cache,
  texts: readonly string[],
  before?: string,
  program = "one",
): string {
  const parts = joinedParts(cache, out, program);
  made = [];
  const bytes = Buffer.concat([...parts.reusing(fileOf(texts), before).chunks]);
  writeFileSync(join(out, "list.json"), bytes);
  parts.keep("list.json", digest(bytes.toString()));
  return bytes.toString();
}

const fresh = () => {
  const out = temporaryFolder();
  return { out, cache: cacheIn(join(out, "cache"), process.pid, 0) as Cache };
};

test("parts that did not change are copied out of the file, wherever they stand in it", () => {
  const { out, cache } = fresh();
  const before = digest(write(out, cache, ["[", "first", ",", "second ä", ",", "third", "]"]));
  const after = ["[", "fourth", ",", "second ä", ",", "first", "]"];
  expect(write(out, cache, after, before)).toBe(after.join(""));
  expect(made.filter((text) => text.length > 2)).toEqual(["fourth"]);
});

test.each([
  ["the file may be another", undefined, "one"],
  ["the file is another than was noted", digest("other"), "one"],
  ["another program made it", digest("[first]"), "two"],
])("all parts are made when %s", (_, before, program) => {
  const { out, cache } = fresh();
  const texts = ["[", "first", "]"];
  write(out, cache, texts);
  expect(write(out, cache, texts, before, program)).toBe("[first]");
  expect(made).toEqual(texts);
});

test("whatever is added, removed and moved, the file is the text of its parts", () => {
  const lists = fc.array(fc.array(fc.string({ unit: "binary", maxLength: 9 }), { maxLength: 9 }), {
    maxLength: 5,
  });
  fc.assert(
    fc.property(lists, (versions) => {
      const { out, cache } = fresh();
      let before: string | undefined;
      for (const texts of versions) {
        const text = write(out, cache, texts, before);
        expect(text).toBe(Buffer.from(texts.join("")).toString());
        before = digest(text);
      }
    }),
    { numRuns: often(200, 40) },
  );
});
