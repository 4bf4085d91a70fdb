import { expect, test } from "vitest";
import { cutCatalog } from "../support/project.ts";

test("-o sets the path of a site, a manifest and a plan", async () => {
  const made = await cutCatalog();
  await made.succeed("build", "-o", "public");
  expect(made.list("public")).toContain("build.json");
  await made.succeed("plan", "--ledger-base", "none", "-o", "plan.json");
  expect(JSON.parse(made.read("plan.json"))).toMatchObject({ schema_version: 1 });
});

test("-y confirms", async () => {
  const made = await cutCatalog();
  await made.succeed("retract", "1", "--reason", "Broken.", "-y");
  await made.succeed("reinstate", "1", "-y");
  expect((await made.run("list", "package_type=msi")).stdout).toContain("tool-26.08.001.msi");
});

test.each(["-q", "--quiet"])("%s omits the next command, before and after the verb", async (flag) => {
  const made = await cutCatalog();
  const said = async (...args: string[]) => (await made.run(...args)).stderr;
  expect(await said("build")).toContain("Next: ");
  expect(await said("build", flag)).not.toContain("Next: ");
  expect(await said(flag, "check")).not.toContain("Next: ");
  made.write("releases/26.08.001/release.yaml", "version: 26.08.001\n");
  expect(await made.run("check", flag)).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining("missing-key"),
  });
});
