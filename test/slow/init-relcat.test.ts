import { createHash } from "node:crypto";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { afterFile } from "../support/after-file.ts";
import { program, repository, temporaryFolder } from "../support/run.ts";

const version = "0.1.0";
const tarball = `vendor/relcat-${version}.tgz`;

interface Served {
  name: string;
  version: string;
  bytes: Buffer;
  /** More members of package.json. */
  about?: object;
}

/** Answers as npm's registry does for a few packages. @returns its address */
async function registry(packages: readonly Served[]): Promise<string> {
  const server = createServer(({ url = "" }, response) => {
    const found = packages.find(({ name }) => url.split("/")[1] === name);
    if (!found) return response.writeHead(404).end("{}");
    const { name, version, bytes, about } = found;
    if (url.endsWith(".tgz")) return response.end(bytes);
    const dist = { tarball: `${address}/${name}/-/${name}-${version}.tgz`, integrity: integrityOf(bytes) };
    const versions = { [version]: { name, version, dist, ...about } };
    response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterFile(() => server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return address;
}

const integrityOf = (bytes: Buffer) => `sha512-${createHash("sha512").update(bytes).digest("base64")}`;

/** @returns the packed package, without any file but package.json */
async function packed(about: { name: string; version: string }): Promise<Served> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "package.json"), JSON.stringify(about));
  await execa("npm", ["pack"], { cwd: folder });
  const { name, version } = about;
  return { name, version, about, bytes: readFileSync(join(folder, `${name}-${version}.tgz`)) };
}

/** As the platform packages of a decoder; no npm runs under such a Node. */
const native = { name: "native-part", version: "1.0.0", engines: { node: ">=99" } };
const about = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
const node = { name: "node", version: about.devDependencies.node };

/** An installed relcat without the dependencies of the real one. */
let installed: string;
let served: Served[];
let npmEnv: Record<string, string>;

beforeAll(async () => {
  served = await Promise.all([packed(native), packed(node)]);
  npmEnv = { npm_config_registry: await registry(served), npm_config_cache: temporaryFolder() };
  installed = join(temporaryFolder(), "node_modules/relcat");
  const bundle = join(program, "../../build");
  cpSync(bundle, join(installed, "build"), { recursive: true });
  mkdirSync(join(installed, "cli"));
  cpSync(join(repository, "starters"), join(installed, "starters"), { recursive: true });
  cpSync(program, join(installed, "cli/relcat.mjs"));
  const { dependencies: _, scripts: __, ...kept } = about;
  const optionalDependencies = { [native.name]: native.version };
  writeFileSync(join(installed, "package.json"), JSON.stringify({ ...kept, optionalDependencies }));
  // The bundle resolves some modules when it runs.
  symlinkSync(join(repository, "node_modules"), join(installed, "node_modules"));
});

const waiting = "Waiting for npm, which may take a minute…";

/** Runs the installed relcat in a new folder. */
async function init(args: readonly string[] = [], env: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const launcher = join(installed, "cli/relcat.mjs");
  const { exitCode, stdout, stderr } = await execa(process.execPath, [launcher, "init", "demo", ...args], {
    cwd: folder,
    reject: false,
    env: { SOURCE_DATE_EPOCH: "1793664000", ...npmEnv, ...env },
  });
  const read = (path: string) => readFileSync(join(folder, "demo", path));
  const pinned = () => JSON.parse(read("package.json").toString()).devDependencies.relcat;
  const messages = stderr.split("\n").filter((line) => line !== waiting);
  return { folder: join(folder, "demo"), exitCode, stdout, stderr, messages, read, pinned };
}

describe("init packs a relcat that no registry served:", () => {
  test("package.json and package-lock.json install it from vendor/, and two projects get the same bytes", async () => {
    const [one, two] = [await init(), await init()];
    expect(one).toMatchObject({ exitCode: 0 });
    expect(one.stderr).toBe(
      `${waiting}
package.json installs relcat from ${tarball}, which belongs in git; npm ci gets only its dependencies from a registry, or from npm's cache.
Next: relcat -C demo check, then relcat -C demo build`,
    );
    expect(one.pinned()).toBe(`file:${tarball}`);
    for (const path of [tarball, "package-lock.json", "releases/26.11.001/notes/first-release.yaml"])
      expect(one.read(path).equals(two.read(path)), path).toBe(true);
    const lock = JSON.parse(one.read("package-lock.json").toString());
    const integrity = integrityOf(one.read(tarball));
    expect(lock).toMatchObject({
      name: "demo",
      packages: { "node_modules/relcat": { version, resolved: `file:${tarball}`, integrity } },
    });
    const { stdout } = await execa("tar", ["-tzf", join(one.folder, tarball)]);
    expect(stdout.split("\n")).toEqual(
      expect.arrayContaining(["package/cli/relcat.mjs", "package/build/program/main.js"]),
    );
    // The lock fits package.json, or npm ci would refuse it.
    const { stderr } = await execa("npm", ["ci", "--no-audit", "--no-fund"], {
      cwd: one.folder,
      env: npmEnv,
    });
    expect(stderr).toBe("");
    // npm leaves out optional packages whose lock entries require another Node than its own.
    expect(readdirSync(join(one.folder, "node_modules"))).toContain(native.name);
    expect(JSON.parse(one.read("package.json").toString())).toMatchObject({
      devDependencies: { node: node.version },
      allowScripts: { node: true },
    });
    const run = await execa("npx", ["--no", "--", "relcat", "--version"], { cwd: one.folder });
    expect(run.stdout).toBe(version);
  });

  test("git stores the file as it is, even if it ignores vendored files elsewhere", async () => {
    const { folder } = await init(["--no-lock"]);
    const excludes = join(temporaryFolder(), "ignore");
    writeFileSync(excludes, "vendor/\n*.tgz\n");
    const git = async (...args: string[]) =>
      (await execa("git", ["-c", `core.excludesFile=${excludes}`, ...args], { cwd: folder })).stdout;
    await git("init", "--quiet");
    await git("add", ".");
    expect((await git("ls-files")).split("\n")).toContain(tarball);
    expect(await git("check-attr", "text", "diff", "--", tarball)).toBe(
      `${tarball}: text: unset\n${tarball}: diff: unset`,
    );
  });

  test("--relcat puts another file there", async () => {
    const file = join(temporaryFolder(), "relcat-9.9.9.tgz");
    writeFileSync(file, "a tarball");
    const { pinned, read } = await init(["--no-lock", "--relcat", file]);
    expect(pinned()).toBe("file:vendor/relcat-9.9.9.tgz");
    expect(read("vendor/relcat-9.9.9.tgz").toString()).toBe("a tarball");
  });
});

const refusing = { npm_config_registry: "http://127.0.0.1:9" };

describe("one line of init", () => {
  test("says that npm found no dependencies, and how to write package-lock.json later", async () => {
    const needs = join(temporaryFolder(), "relcat-9.9.9.tgz");
    const folder = temporaryFolder();
    writeFileSync(
      join(folder, "package.json"),
      '{"name":"relcat","version":"9.9.9","dependencies":{"relcat-needs-this":"1.0.0"}}',
    );
    await execa("npm", ["pack", "--pack-destination", dirname(needs)], { cwd: folder });
    const { exitCode, messages, stdout } = await init(["--relcat", needs], refusing);
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain("package-lock.json");
    expect(messages[1]).toMatch(
      /^package-lock\.json, which npm ci needs, is missing: .*ECONNREFUSED.*\. To write it, run in demo\/: npm install --package-lock-only$/,
    );
  });

  test("explains the missing package-lock.json if the registry does not answer within 20 seconds", async () => {
    const bin = temporaryFolder();
    const report = "network timeout at: https://registry.example.com/node";
    writeFileSync(join(bin, "npm"), `#!/bin/sh\necho "$@" >'${bin}/args'\necho '${report}' >&2\nexit 1\n`);
    chmodSync(join(bin, "npm"), 0o755);
    const path = { PATH: `${bin}${delimiter}${process.env.PATH}` };
    const { messages } = await init(["--relcat", "9.9.9"], path);
    expect(messages[1]).toBe(
      `package-lock.json, which npm ci needs, is missing: ${report}. To write it, run in demo/: npm install --package-lock-only`,
    );
    expect(readFileSync(join(bin, "args"), "utf8")).toContain(" --fetch-timeout=20000 --fetch-retries=1 ");
  });

  test("says that npm is missing, and how to pack relcat later", async () => {
    const bin = temporaryFolder();
    symlinkSync(process.execPath, join(bin, "node"));
    const { exitCode, messages, pinned } = await init([], { PATH: bin });
    expect({ exitCode, pinned: pinned() }).toEqual({ exitCode: 0, pinned: `file:${tarball}` });
    expect(messages[0]).toBe(
      `${tarball} and package-lock.json are missing, because npm is not installed here. Where it is, run in demo/: mkdir -p vendor && npm pack ${installed}/ --ignore-scripts --pack-destination vendor && npm install --package-lock-only`,
    );
  });
});

describe("init refuses, and writes nothing,", () => {
  test("if npm cannot pack relcat", async () => {
    const bin = temporaryFolder();
    writeFileSync(
      join(bin, "npm"),
      "#!/bin/sh\necho 'npm error code EACCES' >&2\necho 'npm error no access' >&2\nexit 1\n",
    );
    chmodSync(join(bin, "npm"), 0o755);
    const { exitCode, messages, folder } = await init([], { PATH: `${bin}${delimiter}${process.env.PATH}` });
    expect(exitCode).toBe(2);
    expect(messages.join("\n")).toBe(
      `error[pack-failed] npm could not pack ${installed}/: no access (EACCES)
  hint: Say what package.json installs: --relcat FILE.tgz, or --relcat VERSION if a registry has it.`,
    );
    await expect(execa("ls", [folder])).rejects.toThrow();
  });

  test.each([
    [
      "latest",
      "error[usage] --relcat is latest, expected a version such as 1.2.3 or a file that ends in .tgz",
    ],
    ["none.tgz", "error[file-access] cannot read none.tgz: there is no such file"],
  ])("--relcat %s", async (what, message) => {
    const { exitCode, stderr } = await init(["--relcat", what]);
    expect(exitCode).toBe(2);
    expect(stderr.split("\n")[0]).toBe(message);
  });
});

describe("a relcat that a registry served", () => {
  const serving = (bytes: Buffer) => registry([...served, { name: "relcat", version, bytes }]);

  /** Writes what npm notes about an installed package. */
  async function installedFrom(address: string, bytes: Buffer) {
    const integrity = integrityOf(bytes);
    const resolved = `${address}/relcat/-/relcat-${version}.tgz`;
    const noted = join(installed, "../.package-lock.json");
    writeFileSync(
      noted,
      JSON.stringify({ packages: { "node_modules/relcat": { version, resolved, integrity } } }),
    );
    const cache = { npm_config_registry: address, npm_config_cache: temporaryFolder() };
    return init([], cache).finally(() => writeFileSync(noted, "{}"));
  }

  test("is pinned by its version", async () => {
    const bytes = Buffer.from("a tarball");
    const started = await installedFrom(await serving(bytes), bytes);
    expect(started.messages[0]).toBe(`package.json installs relcat ${version} from a registry.`);
    expect(started.pinned()).toBe(version);
    expect(started.stdout).not.toContain("vendor/");
    expect(started.stdout).toContain("package-lock.json");
  });

  test("is packed if the registry now has someone else's package of that name", async () => {
    const started = await installedFrom(await serving(Buffer.from("foreign")), Buffer.from("ours"));
    expect(started.exitCode).toBe(0);
    expect(started.pinned()).toBe(`file:${tarball}`);
    expect(started.read("package-lock.json").toString()).not.toContain("127.0.0.1");
  });

  test("is packed if npm installed it from a file", async () => {
    const bytes = Buffer.from("a tarball");
    const started = await installedFrom("file:/somewhere", bytes);
    expect(started.pinned()).toBe(`file:${tarball}`);
  });
});
