/** @module-tag long */
import { cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { project, smallCatalog } from "../support/project.ts";
import { repository, temporaryFolder } from "../support/run.ts";

/** A module to preload, with which Node claims another version. */
const claim = (version: string) =>
  `data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })`;

const launcher = join(repository, "cli/relcat.mjs");

const startedBy = (version: string, ...args: string[]) =>
  execa(process.execPath, ["--import", claim(version), launcher, ...args], {
    cwd: repository,
    reject: false,
  });

describe("a Node that is too old gets one sentence with a command that works:", () => {
  test.each(["12.22.12", "18.20.8", "20.20.2", "24.14.9", "25.9.0"])("Node %s", async (version) => {
    const { stdout, stderr, exitCode } = await startedBy(version, "cut", "26.09.001", "--body", "it's.md");
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr).toBe(
      `relcat needs Node ^24.15.0 || >=26, but this is Node ${version}; after npm ci in ${repository} this works: ${repository}/node_modules/.bin/node ${launcher} cut 26.09.001 --body 'it'\\''s.md'`,
    );
  });

  test.each(["24.15.0", "24.21.3", "26.0.0", "27.1.0"])("Node %s is new enough", async (version) => {
    expect(await startedBy(version, "--version")).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("an installed relcat starts itself with a Node from npm", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "cli"));
    for (const file of ["cli/relcat.mjs", "package.json"]) cpSync(join(repository, file), join(folder, file));
    const args = ["--import", claim("20.1.0"), join(folder, "cli/relcat.mjs"), "check"];
    const { stderr, exitCode } = await execa(process.execPath, args, { reject: false });
    expect(exitCode).toBe(2);
    const installed = join(folder, "cli/relcat.mjs");
    expect(stderr).toMatch(/^relcat needs Node .*; this works: /);
    expect(stderr.split("this works: ")[1]).toBe(`npx --yes --package=node@26 node ${installed} check`);
  });

  test("the relcat of a project names the project's own Node", async () => {
    const modules = join(temporaryFolder(), "node_modules");
    for (const name of ["relcat/cli", ".bin"]) mkdirSync(join(modules, name), { recursive: true });
    for (const file of ["cli/relcat.mjs", "package.json"])
      cpSync(join(repository, file), join(modules, "relcat", file));
    symlinkSync(process.execPath, join(modules, ".bin/node"));
    const installed = join(modules, "relcat/cli/relcat.mjs");
    const args = ["--import", claim("20.1.0"), installed, "check"];
    const { stderr } = await execa(process.execPath, args, { reject: false });
    expect(stderr.split("this works: ")[1]).toBe(`${modules}/.bin/node ${installed} check`);
  });

  const system = ["/usr/bin/node", "/usr/local/bin/node"].find((path) => existsSync(path));
  test.skipIf(!system)("the system's own Node runs relcat, or gets the sentence", async () => {
    const { stderr, exitCode } = await execa(system ?? "", [launcher, "--version"], { reject: false });
    expect(stderr === "" ? exitCode : stderr.split("\n").length).toBe(stderr === "" ? 0 : 1);
  });
});

test.each([[["--version"]], [["--help"]], [["notes", "--help"]], [["completion", "bash"]]])(
  "%j loads commander at most",
  async (args) => {
    const { folder, write, read } = project();
    write(
      "watch.mjs",
      [
        'import { writeFileSync } from "node:fs"; import { registerHooks } from "node:module"; const seen = [];',
        "registerHooks({ load(url, context, next) { seen.push(url); return next(url, context); } });",
        'process.on("exit", () => writeFileSync(process.env.SEEN, seen.join("\\n")));',
      ].join("\n"),
    );
    const options = {
      nodeArgs: ["--import", join(folder, "watch.mjs")],
      env: { SEEN: join(folder, "seen") },
    };
    const command = [...options.nodeArgs, launcher, ...args];
    await execa(process.execPath, command, { cwd: folder, env: options.env });
    const packages = [...read("seen").matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].map(
      ([, name]) => name,
    );
    // The launcher prints the version without loading anything.
    const needed = args[0] === "--version" ? [] : ["@commander-js/extra-typings", "commander"];
    expect([...new Set(packages)].sort()).toEqual(needed);
    // These files import nothing.
    const light = ["/pipeline/project/display.ts", "/shared/version.ts"];
    const pipeline = read("seen").match(/\/(pipeline|shared|inspect|service|controller\/server)\/\S+/g) ?? [];
    expect(pipeline.filter((file) => !light.includes(file))).toEqual([]);
  },
);

/** A copy of the command line for tests that break it. */
function copyOfRelcat(about: object = {}) {
  const copy = project(smallCatalog);
  for (const name of ["controller", "inspect", "pipeline", "service", "shared", "node_modules"])
    symlinkSync(join(repository, name), join(copy.folder, name));
  cpSync(join(repository, "cli"), join(copy.folder, "cli"), { recursive: true });
  copy.write("package.json", { version: "1.2.3", type: "module", engines: { node: ">=20" }, ...about });
  const run = (...args: string[]) =>
    execa(process.execPath, [join(copy.folder, "cli/relcat.mjs"), ...args], {
      cwd: copy.folder,
      reject: false,
    });
  return { ...copy, run };
}

describe("an internal error", () => {
  const broken = 'export const status = () => { throw new TypeError("boom"); };\n';

  test("ends with status 70, the stack and instructions", async () => {
    const { run, write } = copyOfRelcat();
    write("cli/catalog/status.ts", broken);
    const { stdout, stderr, exitCode } = await run("status");
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 70 });
    expect(stderr).toMatch(
      /^relcat 1\.2\.3 stopped because of a bug of its own\.\nReport it with the stack below\.\n\nTypeError: boom\n {4}at /,
    );
  });

  test("names the package's address for reports", async () => {
    const { run, write } = copyOfRelcat({ bugs: { url: "https://example.com/bugs" } });
    write("cli/catalog/status.ts", broken);
    const { stderr } = await run("status");
    expect(stderr).toContain("Report it at https://example.com/bugs with the stack below.\n");
  });

  test("names no address if the owner of the package has not filled it in", async () => {
    const { run, write } = copyOfRelcat({ bugs: { url: "https://fill-in.invalid/relcat/issues" } });
    write("cli/catalog/status.ts", broken);
    const { stderr } = await run("status");
    expect(stderr).toContain("\nReport it with the stack below.\n");
  });
});

test("is not reported if the operating system refuses an operation", async () => {
  const { run, folder } = copyOfRelcat();
  const { stderr, exitCode } = await run("schema", "--list");
  expect({ stderr, exitCode }).toEqual({
    stderr: `error[file-access] cannot read ${folder}/schemas: there is no such file\n  hint: Check the path.`,
    exitCode: 2,
  });
});
