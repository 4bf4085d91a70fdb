/** @module-tag long */
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { repository, temporaryFolder } from "../support/run.ts";

const documents = ["SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md", "LICENSE", "README.md"];

/** A copy of what npm reads to pack relcat; a compiled file is there, so that compile has nothing to do. */
function packageCopy(change = (text: string) => text) {
  const folder = temporaryFolder();
  for (const name of [...documents, "package.json", ".ci/placeholders.mjs"])
    cpSync(join(repository, name), join(folder, name));
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  about.scripts.compile = "node -e \"require('fs').writeFileSync('compiled', '')\"";
  about.files.push("compiled");
  for (const name of documents)
    writeFileSync(join(folder, name), change(readFileSync(join(folder, name), "utf8")));
  writeFileSync(join(folder, "package.json"), change(`${JSON.stringify(about, null, 2)}\n`));
  const npm = (args: readonly string[], env: Record<string, string> = {}) =>
    execa("npm", args, {
      cwd: folder,
      reject: false,
      env: { RELCAT_PRIVATE_PACKAGE: undefined, npm_config_cache: join(folder, "cache"), ...env },
    });
  return { folder, npm, packed: () => readdirSync(folder).some((name) => name.endsWith(".tgz")) };
}

const filledIn = (text: string) => text.replaceAll("fill-in.invalid", "acme.example");

/** Each line with a placeholder, as the refusal quotes it. */
const refused = [
  ["package.json", '"author": "The owner of relcat <owner@fill-in.invalid>"'],
  ["package.json", '"homepage": "https://fill-in.invalid/relcat"'],
  ["package.json", '"url": "git+https://fill-in.invalid/relcat.git"'],
  ["package.json", '"url": "https://fill-in.invalid/relcat/issues"'],
  ["CODE_OF_CONDUCT.md", "conduct@fill-in.invalid"],
  ["SECURITY.md", "security@fill-in.invalid"],
];

test("npm pack refuses a package with placeholders, and names file, line and column of each", async () => {
  const { npm, packed, folder } = packageCopy();
  const { exitCode, stderr } = await npm(["pack"]);
  expect([exitCode, packed(), existsSync(join(folder, "compiled"))]).toEqual([1, false, false]);
  const located = [...stderr.matchAll(/^(\S+):(\d+):(\d+) error\[placeholder\] (.*)$/gm)];
  expect(located.map(([, file, row, column]) => [file, readAt(folder, file, row, column)])).toEqual(
    refused.map(([file]) => [file, "fill-in.invalid"]),
  );
  for (const [, quoted] of refused) expect(stderr).toContain(quoted);
  expect(located[0]?.[4]).toBe(
    'fill-in.invalid is a placeholder, expected the name and address of the owner, such as "Acme <relcat@example.com>"',
  );
  expect(stderr).toContain(
    "  hint: Replace each fill-in.invalid in these files with an address of your own, commit them, and run npm again. " +
      "For a package that stays on your machines, set RELCAT_PRIVATE_PACKAGE=1.\n",
  );
});

const readAt = (folder: string, file = "", row = "", column = "") =>
  readFileSync(join(folder, file), "utf8")
    .split("\n")
    [Number(row) - 1]?.slice(Number(column) - 1)
    .slice(0, "fill-in.invalid".length);

test("npm publish refuses it too, whatever the environment says", async () => {
  const { npm } = packageCopy();
  const { exitCode, stderr } = await npm(["publish", "--dry-run"], { RELCAT_PRIVATE_PACKAGE: "1" });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("package.json:");
  expect(stderr).not.toContain("RELCAT_PRIVATE_PACKAGE");
});

test.each([
  ["with RELCAT_PRIVATE_PACKAGE=1", ["pack"], { RELCAT_PRIVATE_PACKAGE: "1" }],
  ["with --ignore-scripts", ["pack", "--ignore-scripts"], {}],
])("a package that stays private is packed %s", async (_, args, env) => {
  const { npm, packed } = packageCopy();
  expect([(await npm(args, env)).exitCode, packed()]).toEqual([0, true]);
});

test("npm pack and npm publish accept the package once each placeholder is replaced", async () => {
  const { npm, folder, packed } = packageCopy(filledIn);
  const { exitCode, stderr } = await npm(["pack"]);
  expect([exitCode, packed(), existsSync(join(folder, "compiled"))], stderr).toEqual([0, true, true]);
  const { stderr: said } = await npm(["run", "prepublishOnly"]);
  expect(said).not.toContain("error[placeholder]");
  const { stdout } = await execa(
    "tar",
    ["tzf", readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? ""],
    {
      cwd: folder,
    },
  );
  expect(stdout.split("\n")).toEqual(
    expect.arrayContaining(["package/LICENSE", "package/CHANGELOG.md", "package/README.md"]),
  );
});
