import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checks } from "../../cli/intake/inspect.ts";
import { limits } from "../../inspect/inspect.ts";
import { type Artifact, verdictOf } from "../support/artifacts.ts";
import { repository } from "../support/run.ts";

const page = readFileSync(join(repository, "docs/inspection.md"), "utf8");

test("the page lists the same checks for each type as the command", () => {
  const rows = [...page.matchAll(/^\| `([a-z0-9-]+)` \| (.+) \| .+ \|$/gm)].map(([, type, words]) => [
    type,
    words,
  ]);
  expect(Object.fromEntries(rows)).toEqual(checks);
});

test("the page has every verdict of the fixtures once", () => {
  const [table = ""] = /^\| verdict[\s\S]*?\n\n/m.exec(page) ?? [];
  const named = table.split("\n").flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([a-z-]+)`/g)]);
  const fixtures = JSON.parse(
    readFileSync(join(repository, "test/fixtures/artifacts/expected.json"), "utf8"),
  );
  const verdicts = new Set((fixtures.artifacts as Artifact[]).map(verdictOf));
  expect(named.map(([, verdict]) => verdict).sort()).toEqual([...verdicts].sort());
});

test("the page has the limits of the code", () => {
  const gibibytes = (bytes: number) => `${bytes / 2 ** 30} GiB`;
  expect(page).toContain(
    `may unpack to ${gibibytes(limits.package)} in a package and ${gibibytes(limits.image)} in an image`,
  );
});
