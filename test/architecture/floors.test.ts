import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../support/run.ts";
import { doors, floors, reserved } from "./floors.ts";
import { importsOf, readImports } from "./imports.ts";
import { violations } from "./violations.ts";

/** The imports are read from the TypeScript sources, so that imports of types count. */
const imports = readImports();

test("source files break no import rule", () => {
  expect(imports.size).toBeGreaterThan(500);
  expect(violations(imports)).toEqual([]);
});

// Node can deadlock in it (nodejs/node#54918, #64274): it joins V8's worker threads, of which one may wait for a garbage
// collection by the main thread. Commands set process.exitCode and close what they opened; Node ends V8 before it joins.
// The flags against concurrent compilation do not remove the deadlock, and SIGKILL to itself would change the exit status.
test("no source file calls process.exit", () => {
  const calls = [...imports.keys()].filter((path) =>
    /\bprocess\.(exit|reallyExit|abort)\(/.test(readFileSync(join(repository, path), "utf8")),
  );
  expect(calls).toEqual([]);
});

// The bundle leaves out modules of which nothing is used (cli/bundle.ts).
test("no source file imports a module for its effects only", () => {
  const bare = [...imports.keys()].filter((path) =>
    /^import "/m.test(readFileSync(join(repository, path), "utf8")),
  );
  expect(bare).toEqual([]);
});

test("every import of a source file resolves to a file", () => {
  const paths = [...imports.values()]
    .flat()
    .filter((name) => /^(cli|controller|inspect|pipeline|service|shared)\//.test(name));
  expect(paths.length).toBeGreaterThan(1000);
  expect(paths.filter((path) => !existsSync(join(repository, path)))).toEqual([]);
});

test("the table names only existing folders and files", () => {
  const named = floors.flatMap((folders) =>
    Object.entries(folders).flatMap(([folder, below]) => [
      folder,
      ...below.map((name) => `${folder}/${name}`),
    ]),
  );
  const entries = doors.flatMap(({ may }) => may.filter((path) => /\.ts$|\/$/.test(path)));
  expect([...named, ...entries].filter((path) => !existsSync(join(repository, path)))).toEqual([]);
});

test.each([
  ["every folder has a floor", "pipeline/records/rules/bad.ts", `export const bad = 1;`],
  ["every folder has a floor", "pipeline/bad.ts", `export const bad = 1;`],
  ["imports lead down", "pipeline/documents/bad.ts", `import { x } from "../records/read-release.ts";`],
  ["imports lead down", "pipeline/selection/bad.ts", `import type { X } from "../system/files.ts";`],
  ["imports lead down", "pipeline/ledger/bad.ts", `export type { X } from "../site/emit.ts";`],
  ["imports lead down", "pipeline/site/bad.ts", `export const x = () => import("../inspect/inspect.ts");`],
  ["imports lead down", "inspect/bad.ts", `export type X = import("../pipeline/build.ts").X;`],
  ["imports lead down", "pipeline/publish/bad.ts", `export * from "../verify/verify.ts";`],
  ["imports lead down", "pipeline/system/bad.ts", `new Worker(new URL("../build.ts", import.meta.url));`],
  ["imports lead down", "pipeline/plan/bad.ts", `import { x } from "../support/run.ts";`],
  [
    "the command line imports the library, or a light entry",
    "cli/catalog/bad.ts",
    `import { x } from "../../pipeline/records/read-release.ts";`,
  ],
  [
    "request handlers import pure modules",
    "service/catalog/bad.ts",
    `import { x } from "../../pipeline/index.ts";`,
  ],
  [
    "request handlers import pure modules",
    "service/http/bad.ts",
    `import { x } from "../../pipeline/system/files.ts";`,
  ],
  [
    "the catalog's server imports the library",
    "service/catalog/node-bad.ts",
    `import { x } from "../../pipeline/records/read-release.ts";`,
  ],
  [
    "the controller knows no catalog",
    "controller/server/keys/bad.ts",
    `import { x } from "../../../pipeline/index.ts";`,
  ],
  [
    "the controller's commands know no catalog",
    "controller/commands/bad.ts",
    `import { x } from "../../pipeline/index.ts";`,
  ],
  [
    "the readers of files know no catalog",
    "inspect/images/bad.ts",
    `import { x } from "../../pipeline/documents/config.ts";`,
  ],
  [
    "schemas of outputs consist of documents",
    "cli/output/bad.ts",
    `import { x } from "../../pipeline/index.ts";`,
  ],
  [reserved[0]?.name, "pipeline/records/bad.ts", `import { readFileSync } from "node:fs";`],
  [reserved[0]?.name, "controller/server/bad.ts", `import http from "http";`],
  [reserved[0]?.name, "pipeline/site/pages/bad.ts", `import { readFile } from "node:fs/promises";`],
  [reserved[1]?.name, "cli/catalog/bad.ts", `import { execa } from "execa";`],
  [reserved[1]?.name, "pipeline/records/bad.ts", `export const glob = () => import("fast-glob");`],
])('the check "%s" reports %s', (rule, file, text) => {
  const planted = violations(new Map([...imports, [file, importsOf(file, text)]]));
  expect(planted.map((each) => [each.rule, each.file])).toContainEqual([rule, file]);
});

test("the check reports a cycle between two folders whose files form none", () => {
  const planted = violations(
    new Map([
      ["pipeline/site/feeds/a.ts", ["pipeline/site/stores/b.ts"]],
      ["pipeline/site/stores/c.ts", ["pipeline/site/feeds/d.ts"]],
      ["pipeline/site/stores/b.ts", []],
      ["pipeline/site/feeds/d.ts", []],
    ]),
  );
  expect(planted).toEqual([
    {
      rule: "no cycle",
      file: "pipeline/site/feeds",
      imported: "pipeline/site/feeds, pipeline/site/stores",
    },
  ]);
});

test("the check reports a cycle of types through three files", () => {
  const file = (name: string, next: string): [string, string[]] => {
    const path = `pipeline/records/${name}.ts`;
    return [path, importsOf(path, `import type { X } from "./${next}.ts";`)];
  };
  const planted = violations(new Map([file("a", "b"), file("b", "c"), file("c", "a")]));
  expect(planted).toEqual([
    {
      rule: "no cycle",
      file: "pipeline/records/a.ts",
      imported: "pipeline/records/a.ts, pipeline/records/b.ts, pipeline/records/c.ts",
    },
  ]);
});
