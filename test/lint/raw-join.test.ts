import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { repository, temporaryFolder } from "../support/run.ts";

/** Runs the lint rule against paths from outside over a planted module. */
async function lint(file: string, code: string): Promise<string> {
  const folder = temporaryFolder();
  for (const name of ["biome.json", "test/lint"])
    cpSync(join(repository, name), join(folder, name), { recursive: true });
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
  mkdirSync(join(folder, dirname(file)), { recursive: true });
  writeFileSync(join(folder, file), code);
  const biome = join(repository, "node_modules/@biomejs/biome/bin/biome");
  const { exitCode, all } = await execa(process.execPath, [biome, "lint", "pipeline", "service"], {
    cwd: folder,
    reject: false,
    all: true,
  });
  return `${exitCode}\n${all}`;
}

const joins = (argument: string) =>
  `import { join } from "node:path";\nconst own = "build.json";\nexport const at = (folder: string, path: string) => [join(folder, own), ${argument}, path];\n`;

test.each([
  ["pipeline/system/new-store.ts", "join(folder, path)"],
  ["pipeline/system/new-store.ts", 'join(folder, "state/" + path)'],
  ["pipeline/publish/restore.ts", 'join(folder, "builds", path)'],
  ["pipeline/trust/sign-site.ts", "join(folder, path)"],
  ["service/catalog/node-more.ts", "join(folder, path)"],
])("refuses in %s %s", async (file, argument) => {
  const answer = await lint(file, joins(argument));
  expect(answer).toContain("A path that is no constant is joined to a folder.");
  expect(answer).toMatch(/^1\n/);
});

test("refuses a template with a path if a file is read, and accepts it in an address", async () => {
  const module = (use: string) =>
    `import { readFileSync } from "node:fs";\nexport const at = (folder: string, path: string) => [${use}, readFileSync(\`\${folder}/build.json\`)];\n`;
  const file = "pipeline/system/new-store.ts";
  const path = ["`", "{folder}/", "{path}`"].join("$");
  const answer = await lint(file, module(`readFileSync(${path})`));
  expect(answer).toContain("A path that is no constant is written behind a folder in a template.");
  expect(answer).toMatch(/^1\n/);
  expect(await lint(file, module(`fetch(${path})`))).toMatch(/^0\n/);
});

test.each(["join(folder, own)", 'join(folder, "current/files")'])("accepts %s", async (argument) => {
  expect(await lint("pipeline/system/new-store.ts", joins(argument))).toMatch(/^0\n/);
});
