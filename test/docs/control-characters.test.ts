import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../support/run.ts";

/**
 * Characters hidden in editors and reviews: control characters except tab and line feed, and bidirectional
 * marks.
 */
const hidden = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;
const shown = /[\t\n]/g;

const generated = /^(?:\.git|node_modules|build|dist|\.relcat-.*)$/;
const binary = /\.png$|^(?:sample-files|starters)\/.+\.(?:deb|rpm|tgz|tar\.xz)$/;

/** Fixtures are artifacts and text with deliberate faults. */
function sources(folder: string): string[] {
  return readdirSync(join(repository, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (generated.test(entry.name) || path === "test/fixtures") return [];
    if (entry.isDirectory()) return sources(path);
    return entry.isFile() && !binary.test(path) ? [path] : [];
  });
}

const isSound = (text: string) => !hidden.test(text.replace(shown, ""));

test("no source has a control character", () => {
  const paths = sources(".");
  expect(paths.length).toBeGreaterThan(1000);
  expect(paths.filter((path) => !isSound(readFileSync(join(repository, path), "utf8")))).toEqual([]);
});

test.each(["\0", "\u001b", "\r", "\u0085", "\u202e"])("the search finds %j", (character) => {
  expect(isSound(`a\t${character}\n`)).toBe(false);
});
