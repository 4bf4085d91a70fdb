import { join } from "node:path";
import { expect, test } from "vitest";
import { copyProject, relcat, repository } from "../support/run.ts";
import { readTree } from "../support/tree.ts";

/** Assets, schemas, the API's description and build.json (digests of all the others) change with them and have tests of their own. */
const apart = /^(assets\/|schemas\/|openapi\.json$|build\.json$|favicon\.svg$)/;

test("the small catalog is emitted byte for byte as test/golden/site has it", async () => {
  const folder = copyProject("site/small");
  const { exitCode, stderr } = await relcat(folder, ["build"]);
  expect(exitCode, stderr).toBe(0);
  const golden = join(repository, "test/golden/site");
  const tree = readTree(join(folder, "dist"));
  const paths = [...tree.keys()].filter((path) => !apart.test(path));
  for (const path of paths) {
    // A changed colour is not a changed page.
    const text = tree
      .get(path)
      ?.toString()
      .replace(/(assets\/(?:style|script)\.)[0-9a-f]{8}\./g, "$1HASH.");
    await expect(text).toMatchFileSnapshot(join(golden, path));
  }
  expect([...readTree(golden).keys()]).toEqual(paths);
});
