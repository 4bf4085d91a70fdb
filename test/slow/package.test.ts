import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { often } from "../support/effort.ts";
import { manyReleases } from "../support/large.ts";
import { project } from "../support/project.ts";
import { repository } from "../support/run.ts";

/** The package as it would be published, installed in an empty folder. */
let folder: string;
let files: string[];
let tarball: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "relcat-package-"));
  // Compiling begins with removing the folder that other tests read.
  if (!existsSync(join(repository, "build/program/main.js")))
    await execa("npm", ["run", "compile"], { cwd: repository });
  const packed = await execa("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
    cwd: repository,
  });
  const report = JSON.parse(packed.stdout.slice(packed.stdout.indexOf("[\n")));
  files = report[0].files.map((file: { path: string }) => file.path);
  tarball = join(folder, report[0].filename);
  writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
  await execa("npm", ["install", "--no-audit", "--no-fund", tarball], { cwd: folder });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const relcat = (args: string[], cwd = folder) =>
  execa(process.execPath, [join(folder, "node_modules/relcat/cli/relcat.mjs"), ...args], {
    cwd,
    reject: false,
  });

test("the package has compiled code, types, templates and schemas, and no tests", () => {
  for (const file of [
    "build/program/main.js",
    "build/pipeline/index.js",
    "build/pipeline/index.d.ts",
    "build/shared/errors.js",
    "build/inspect/read-keys.js",
    "templates/style.css",
    "schemas/manifest.schema.json",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "cli/relcat.mjs",
  ]) {
    expect(files).toContain(file);
  }
  expect(
    files.filter(
      (file) =>
        /^(test|releases|docs|controller|inspect|pipeline|service|shared|bench|\.ci)\//.test(file) ||
        (/\.ts$/.test(file) && !file.endsWith(".d.ts")),
    ),
  ).toEqual([]);
});

/** A project of the package's own `init`, without node_modules. */
let demo: string;

test("npx relcat makes a project that installs the same package", async () => {
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  const npx = (...args: string[]) => execa("npx", ["--no", "--", "relcat", ...args], { cwd: folder, env });
  expect((await npx("--version")).stdout).toMatch(/^\d+\.\d+\.\d+$/);
  await npx("init", "--from", "sample", "demo");
  demo = join(folder, "demo");
  const [vendored = ""] = readdirSync(join(demo, "vendor"));
  expect(readFileSync(join(demo, "vendor", vendored)).equals(readFileSync(tarball))).toBe(true);
  rmSync(join(demo, "out/harbor_1.0.0_amd64.deb"));
  // Its members are compressed with xz, whose decoder is a native package.
  cpSync(
    join(repository, "test/fixtures/artifacts/artifacts/deb/unsigned-xz.deb"),
    join(demo, "out/xz_amd64.deb"),
  );
});

type Versions = readonly (readonly [node: string, npm: string])[];
const oldestAndNewest: Versions = [
  ["20", "10"],
  ["26", "12"],
];
const between: Versions = [
  ["22", "10"],
  ["24", "11"],
];

test.each([...oldestAndNewest, ...often(between, [])])(
  "with Node %s and npm %s, that project installs, ingests, checks and builds",
  async (node, npm) => {
    const tools = join(folder, `node${node}`);
    mkdirSync(tools);
    writeFileSync(join(tools, "package.json"), '{"private":true,"allowScripts":{"node":true}}');
    await execa("npm", ["install", "--no-audit", "--no-fund", `node@${node}`, `npm@${npm}`], { cwd: tools });
    const project = join(folder, `demo${node}`);
    cpSync(demo, project, { recursive: true });
    const run = async (command: string) => {
      const env = { PATH: `${join(tools, "node_modules/.bin")}:/usr/bin:/bin` };
      const result = await execa(command, { cwd: project, env, shell: true, reject: false });
      expect(result.exitCode, `${command}\n${result.stderr}`).toBe(0);
      return result;
    };
    expect((await run("node --version && npm --version")).stdout).toMatch(
      new RegExp(`^v${node}\\..*\\n${npm}\\.`),
    );
    expect((await run("npm ci --prefer-offline --no-audit --no-fund")).stderr).not.toContain("EBADENGINE");
    const version = readdirSync(join(project, "releases")).find((name) => /^\d/.test(name)) ?? "";
    expect((await run(`npx relcat ingest --release ${version} out`)).stdout).toContain("xz_amd64.deb");
    await run("npm run check");
    await run("npm run build");
    for (const page of ["index.html", "api/v1/package/index.json", "feed.atom", "build.json"])
      expect(existsSync(join(project, "dist", page))).toBe(true);
  },
);

test("the install of docs/containers/Dockerfile has relcat", async () => {
  const dockerfile = readFileSync(join(repository, "docs/containers/Dockerfile"), "utf8");
  const [command = ""] = /npm ci .*/.exec(dockerfile) ?? [];
  const image = join(folder, "image");
  for (const name of ["package.json", "package-lock.json", "vendor"])
    cpSync(join(demo, name), join(image, name), { recursive: true });
  await execa(`${command} --prefer-offline`, { cwd: image, shell: true });
  expect(existsSync(join(image, "node_modules/.bin/relcat"))).toBe(true);
});

test("the package builds the sample to the same bytes as the repository", async () => {
  const place = join(folder, "sample");
  cpSync(join(repository, "releases"), join(place, "releases"), { recursive: true });
  expect(await relcat(["build"], place)).toMatchObject({ exitCode: 0 });
  const other = join(folder, "other");
  mkdirSync(other);
  cpSync(join(repository, "releases"), join(other, "releases"), { recursive: true });
  await execa(process.execPath, [join(repository, "cli/relcat.mjs"), "build"], { cwd: other });
  const diff = await execa("diff", ["-r", join(place, "dist"), join(other, "dist")], {
    reject: false,
  });
  expect(diff.stdout).toBe("");
  expect(readdirSync(join(place, "dist")).length).toBeGreaterThan(5);
});

test("the command and the library build many releases to the same bytes", async () => {
  const { folder: many } = project(manyReleases());
  expect(await relcat(["build", "--out", "by-command"], many)).toMatchObject({ exitCode: 0 });
  const surroundings = "{ clock: 0, pid: process.pid, onWait() {} }";
  writeFileSync(
    join(folder, "build.ts"),
    `import { build } from "relcat";\nawait build("releases", "by-library", {}, ${surroundings});\n`,
  );
  await execa(process.execPath, [join(folder, "build.ts")], { cwd: many });
  const [command, library] = ["by-command", "by-library"].map((out) =>
    readFileSync(join(many, out, "build.json"), "utf8"),
  );
  expect(library).toBe(command);
});

test("the package is a library with types", async () => {
  writeFileSync(
    join(folder, "use.ts"),
    'import { loadCatalog, type Catalog, RelcatError } from "relcat";\nconst catalog: Catalog = await loadCatalog("sample/releases");\nconsole.log(catalog.releases.length, RelcatError.name);\n',
  );
  const tsc = join(repository, "node_modules/.bin/tsc");
  const types = ["--types", "node", "--typeRoots", join(repository, "node_modules/@types")];
  const checked = await execa(
    process.execPath,
    [tsc, "--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", ...types, "use.ts"],
    { cwd: folder, reject: false },
  );
  expect(checked.stdout).toBe("");
  const run = await execa(process.execPath, ["use.ts"], { cwd: folder });
  expect(run.stdout).toMatch(/^\d+ RelcatError$/);
});
