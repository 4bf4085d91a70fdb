import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";

/** The rules of .dependency-cruiser.cjs over compiled code; `npm run compile` comes first. */
const root = resolve(import.meta.dirname, "../..");
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "relcat-architecture-"));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  // The bundle has no modules of its own to tell apart.
  const filter = (path: string) => path !== join(root, "build/program");
  cpSync(join(root, "build"), join(copy, "build"), { recursive: true, filter });
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

interface Report {
  modules: { source: string }[];
  summary: { violations: { rule: { name: string }; from: string }[] };
}

async function cruise(folder: string): Promise<Report> {
  const args = [
    join(root, "node_modules/.bin/depcruise"),
    "build",
    "--config",
    join(root, ".dependency-cruiser.cjs"),
    "--output-type",
    "json",
  ];
  const { stdout } = await execa(process.execPath, args, { cwd: folder, reject: false });
  return JSON.parse(stdout);
}

const compiled = (folder: string) =>
  readdirSync(join(folder, "build"), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".js"),
  );

test("every compiled module is seen, and none breaks a rule", async () => {
  const { modules, summary } = await cruise(copy);
  const seen = modules
    .filter((module) => module.source.startsWith("build/"))
    .map((module) => module.source.slice("build/".length));
  expect(seen.sort()).toEqual(compiled(copy).sort());
  expect(seen.length).toBeGreaterThan(40);
  expect(summary.violations).toEqual([]);
});

test.each([
  ["documents-import-nothing", "pipeline/documents/bad.js", "../records/check.js"],
  ["selection-imports-nothing", "pipeline/selection/bad.js", "../records/check.js"],
  ["system-imports-documents", "pipeline/system/bad.js", "../records/check.js"],
  ["cli-imports-the-library", "cli/bad.js", "../pipeline/records/check.js"],
  ["the-handler-imports-pure-modules", "service/catalog/bad.js", "../../pipeline/index.js"],
  ["servers-import-the-library", "service/catalog/node-bad.js", "../../pipeline/records/check.js"],
  ["the-controller-imports-the-library", "service/controller/bad.js", "../../pipeline/records/check.js"],
  ["only-system-and-stores-touch-the-system", "pipeline/records/bad.js", "node:fs"],
  ["only-system-and-stores-run-commands-and-globs", "pipeline/records/bad.js", "execa"],
])("%s catches a module that breaks it", async (rule, file, imported) => {
  writeFileSync(
    join(copy, "build", file),
    `import * as it from ${JSON.stringify(imported)};\nexport { it };\n`,
  );
  const { summary } = await cruise(copy);
  rmSync(join(copy, "build", file));
  expect(summary.violations.map((violation) => [violation.rule.name, violation.from])).toContainEqual([
    rule,
    `build/${file}`,
  ]);
});
