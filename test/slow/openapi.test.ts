import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, expect, test } from "vitest";
import { releases, validRelease } from "../support/catalog.ts";
import { repository, temporaryFolder } from "../support/run.ts";

/** Not devDependencies: they have 200 packages, and `npm ci` fails if their optional packages are missing. */
const linters = ["@redocly/cli@2.77.0", "@stoplight/spectral-cli@6.16.3"];

let folder = "";
let descriptions: string[] = [];

/** Rules that do not apply are off in test/fixtures/openapi, each with its reason. */
beforeAll(async () => {
  const catalog = releases(validRelease);
  await catalog.build();
  descriptions = [
    join(catalog.out, "openapi.json"),
    join(repository, "schemas/catalog.openapi.json"),
    join(repository, "schemas/controller.openapi.json"),
  ];
  folder = temporaryFolder();
  cpSync(join(repository, "test/fixtures/openapi"), folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true}');
  await execa("npm", ["install", "--no-audit", "--no-fund", "--silent", ...linters], { cwd: folder });
});

const lint = (program: string, ...options: string[]) =>
  execa(join(folder, "node_modules/.bin", program), ["lint", ...options, ...descriptions], {
    cwd: folder,
    all: true,
    reject: false,
  });

test("redocly accepts the descriptions of both APIs without warnings", async () => {
  const { all, exitCode } = await lint("redocly");
  expect(all).not.toContain("Warning was generated");
  expect(all).toContain("Your API descriptions are valid");
  expect(exitCode).toBe(0);
});

test("spectral accepts the descriptions of both APIs without warnings", async () => {
  const { all, exitCode } = await lint("spectral", "--ruleset", "spectral.yaml", "--fail-severity", "hint");
  expect(all).toBe("No results with a severity of 'hint' or higher found!");
  expect(exitCode).toBe(0);
});
