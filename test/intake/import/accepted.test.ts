import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RelcatError } from "../../../pipeline/index.ts";
import { prove } from "../../../pipeline/intake/import/import.ts";
import { artifact, project, release } from "../../support/project.ts";
import { complaints, liveProject, messy } from "./importing.ts";

async function imported() {
  const made = liveProject(messy());
  const { stderr } = await made.succeed("import", "live.json", "--accept-violations");
  return { made, stderr };
}

test("import warns that addresses without a template are guesses", async () => {
  const { stderr } = await imported();
  expect(stderr).toContain("warning[download-address] the download addresses of ");
  expect(stderr).toContain(
    "are guesses, made from artifact_url of catalog.yaml\n  hint: Set artifact_url, or run the import again with --resolve-downloads or --download-url TEMPLATE.",
  );
});

test.each([
  [1, 0, "warning[exceptions-unused]", /\d+ problems of .* are accepted, but there are only \d+$/],
  [-1, 1, "error[exceptions-exceeded]", /\d+ problems are .*, but only \d+ are accepted$/],
])("a count that is off by %i exits %i: %s", async (offset, status, code, sentence) => {
  const { made } = await imported();
  const text = made.read("releases/exceptions.yaml");
  const count = Number(/count: (\d+)/.exec(text)?.[1]);
  expect(count).toBeGreaterThan(0);
  made.write("releases/exceptions.yaml", text.replace(`count: ${count}`, `count: ${count + offset}`));
  const { exitCode, stdout } = await made.run("check");
  expect(exitCode).toBe(status);
  const found = complaints(stdout).filter((line) => line.includes(code));
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(sentence);
});

test("check names a lost exceptions.yaml, and the violations that it accepted", async () => {
  const { made } = await imported();
  rmSync(join(made.folder, "releases/exceptions.yaml"));
  const { exitCode, stdout } = await made.run("check");
  expect(exitCode).toBe(1);
  const hints = stdout.split("\n").filter((line) => line.startsWith("  hint:"));
  const lost = "Was it imported like that? Restore releases/exceptions.yaml from version control.";
  expect(hints.filter((hint) => hint.endsWith(lost)).length).toBeGreaterThan(1);
});

test("verbatim is refused for a value that the manifest can state", async () => {
  const entry = artifact("tool-26.08.001.rpm", "rpm", "a", { verbatim: { description: "plain" } });
  const made = project(release("26.08.001", [entry]));
  const { stdout } = await made.run("check");
  expect(complaints(stdout).join("\n")).toContain(
    'error[verbatim-needless] verbatim.description is "plain", which a manifest can say itself',
  );
});

test("a date that is an object is accepted unchanged", async () => {
  const [record] = messy();
  const made = liveProject([{ ...record, created_date: { toString: 1, valueOf: 1 } }] as ReturnType<
    typeof messy
  >);
  await made.succeed("import", "live.json", "--accept-violations");
  await made.succeed("build", "--released");
  expect(JSON.parse(made.read("dist/api/v1/package/index.json"))).toMatchObject([
    { created_date: { toString: 1, valueOf: 1 } },
  ]);
});

test.each([".hidden.rpm", "tool\u202egpj.rpm"])(
  "a record with the name %j is accepted as history",
  async (name) => {
    const [record] = messy();
    const made = liveProject([{ ...record, name }] as ReturnType<typeof messy>);
    expect((await made.run("import", "live.json")).stderr).toContain("error[name-format] ");
    await made.succeed("import", "live.json", "--accept-violations");
    expect(made.read("releases/exceptions.yaml")).toContain("rule: name-format");
    await made.succeed("check");
    await made.succeed("build", "--released");
    expect(JSON.parse(made.read("dist/api/v1/package/index.json"))).toMatchObject([{ name }]);
  },
);

test("a record that would be built differently stops the import", () => {
  const [record] = messy();
  const nothing = { added: [], revised: [], restored: [], unchanged: [], kept: [], gone: [], problems: [] };
  const catalog = { releases: [], byId: new Map(), before: [], found: [], problems: [] };
  const attempt = () => prove([record as never], nothing, catalog, { events: [], before: "", after: "" });
  expect(attempt).toThrow(expect.objectContaining({ name: RelcatError.name, code: "import-mismatch" }));
  expect(attempt).toThrow(/^import-mismatch: record \d+ .* would come out differently: the whole record$/);
});
