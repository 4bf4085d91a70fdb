import { describe, expect, test } from "vitest";
import { cutCatalog, type Project } from "../support/project.ts";

async function builtCatalog(): Promise<Project> {
  const made = await cutCatalog();
  await made.succeed("build", "--out", "live");
  return made;
}

describe("plan --against", () => {
  const refused = async (made: Project, target: string) => {
    const { stderr, exitCode } = await made.run("plan", "--against", target);
    return { exitCode, stderr };
  };

  test("refuses a place that does not exist", async () => {
    expect(await refused(await cutCatalog(), "nowhere")).toEqual({
      exitCode: 2,
      stderr:
        "error[input-missing] there is no nowhere here\n" +
        "  hint: Give --against a built folder, an address starting with https://, or a file with the list.",
    });
  });

  test("refuses a folder without a list", async () => {
    expect(await refused(await cutCatalog(), "releases/")).toEqual({
      exitCode: 2,
      stderr:
        "error[input-missing] releases has no api/v1/package/index.json, expected a folder that relcat build made\n" +
        "  hint: Build into it first, or give the address of the site.",
    });
  });

  test("refuses a file that is not a list", async () => {
    const made = await cutCatalog();
    made.write("list.json", { results: [] });
    expect(await refused(made, "list.json")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(
        "error[import-list] list.json is an object, expected a JSON array of records\n",
      ),
    });
  });

  test("refuses another catalog, in one sentence and not record by record", async () => {
    const made = await cutCatalog();
    const record = { name: "other.msi", version: "26.07.001", package_type: "msi", checksum: "9".repeat(64) };
    const hint =
      "\n  hint: Give this catalog's own site with --against. To take over the records of another catalog: relcat import.";
    made.write(
      "list.json",
      [1, 2, 70].map((id) => ({ id, ...record })),
    );
    expect(await refused(made, "list.json")).toEqual({
      exitCode: 1,
      stderr: `error[id-taken] none of the 3 records of list.json is one of this catalog's: is it the right site?${hint}`,
    });
    made.write("list.json", [{ id: 70, ...record }]);
    expect(await refused(made, "list.json")).toEqual({
      exitCode: 1,
      stderr: `error[id-taken] the one record of list.json is not one of this catalog's: is it the right site?${hint}`,
    });
  });

  test("refuses a folder with a broken list or an invalid record, and names the file", async () => {
    const made = await builtCatalog();
    made.write("live/api/v1/package/index.json", "[");
    expect(await refused(made, "live")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("live/api/v1/package/index.json:1:2 error[json-syntax] "),
    });
    made.write("live/api/v1/package/index.json", "[\n5]");
    expect(await refused(made, "live")).toEqual({
      exitCode: 1,
      stderr: [
        "live/api/v1/package/index.json:2:1 error[import-record] element 1 of the list: it is 5, expected an object",
        "    2 | 5]",
        "      | ^",
        "  hint: Nothing can be compared with it. Is it the complete, unchanged list of a catalog?",
      ].join("\n"),
    });
  });

  test("accepts an invalid build.json, and says so", async () => {
    const made = await builtCatalog();
    made.write("live/build.json", "garbage");
    const { stdout, exitCode } = await made.run("plan", "--against", "live");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("\nlive has no build.json that can be read: its documents are not compared.\n");
  });

  test("refuses --ledger-base at the same time", async () => {
    const { stderr, exitCode } = await (await cutCatalog()).run(
      "plan",
      "--against",
      "live",
      "--ledger-base",
      "main",
    );
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      "error[usage] --against and --ledger-base both say what to compare with\n" +
        "  hint: Give one of them: the live site, or a git revision.",
    );
  });
});
