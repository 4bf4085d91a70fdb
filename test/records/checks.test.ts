import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { codes } from "../../pipeline/index.ts";
import { complaints, installer, manifest, releases, validRelease } from "../support/catalog.ts";
import { repository } from "../support/run.ts";
import { artifactCases } from "./cases/artifacts.ts";
import { changeCases, commandCases } from "./cases/commands.ts";
import { configCases } from "./cases/config.ts";
import { documentCases } from "./cases/documents.ts";
import { fieldCases } from "./cases/fields.ts";
import { ledgerCases } from "./cases/ledger.ts";
import { releaseCases } from "./cases/releases.ts";

const groups = {
  documents: documentCases,
  fields: fieldCases,
  artifacts: artifactCases,
  releases: releaseCases,
  configuration: configCases,
  ledger: ledgerCases,
  changes: changeCases,
  commands: commandCases,
};

test("a release with an artifact of each kind has no problems", async () => {
  const macos = { "26.08.001/manifests/macos.json": manifest([installer()]) };
  expect(await releases(validRelease, macos).problems()).toEqual([]);
});

for (const [group, cases] of Object.entries(groups)) {
  describe(group, () => {
    test.each(cases)("$behaviour", async ({ files, action, problems }) => {
      const catalog = releases(validRelease, files);
      const found = action
        ? await complaints(catalog.folder, () => action(catalog))
        : await catalog.problems();
      expect(found).toEqual(problems);
    });
  });
}

test("every code has a case here or is named in a test of another folder", () => {
  const cases = Object.values(groups).flat();
  const here = cases.flatMap(({ problems }) => problems.map((problem) => /\[([a-z-]+)\]/.exec(problem)?.[1]));
  const elsewhere = otherTests();
  const named = (code: string) => elsewhere.some((text) => new RegExp(`["[ ]${code}\\\\?["\\]:]`).test(text));
  expect(Object.keys(codes).filter((code) => !here.includes(code) && !named(code))).toEqual([]);
});

function otherTests(): string[] {
  const folder = join(repository, "test");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const tests = files.filter((path) => path.endsWith(".ts") && !path.startsWith("checks/"));
  return tests.map((path) => readFileSync(join(folder, path), "utf8"));
}
