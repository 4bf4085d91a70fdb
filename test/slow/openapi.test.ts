import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { releases, validRelease } from "../support/catalog.ts";
import { repository, temporaryFolder } from "../support/run.ts";

/** Not a devDependency, because `npm ci` fails if its optional packages are missing. */
const linter = "@redocly/cli@2.77.0";

test("the descriptions of both APIs are valid OpenAPI 3.1 without warnings of redocly", async () => {
  const catalog = releases(validRelease);
  await catalog.build();
  const folder = temporaryFolder();
  copyFileSync(join(repository, "test/fixtures/openapi/redocly.yaml"), join(folder, "redocly.yaml"));
  writeFileSync(join(folder, "package.json"), '{"private":true}');
  await execa("npm", ["install", "--no-audit", "--no-fund", "--silent", linter], { cwd: folder });
  for (const description of [
    join(catalog.out, "openapi.json"),
    join(repository, "schemas/controller.openapi.json"),
  ]) {
    const { all } = await execa(join(folder, "node_modules/.bin/redocly"), ["lint", description], {
      cwd: folder,
      all: true,
      reject: false,
    });
    expect(all).toContain("Your API description is valid");
    expect(all).not.toContain("Warning was generated");
  }
});
