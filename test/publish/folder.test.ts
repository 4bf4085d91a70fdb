/** @module-tag long */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { isInOwnFolder } from "../../pipeline/documents/site-paths.ts";
import { project, release } from "../support/project.ts";
import { program, refusing, spawnRelcat } from "../support/run.ts";
import { differences, readSiblings, readTree } from "../support/tree.ts";
import { artifactsOf, type PublishingProject, publishingProject } from "./support.ts";

const root = "releases/trust/1.root.json";
const verify = (project: PublishingProject, state = "state") =>
  project.run("verify", join(project.www, "current"), "--root", root, "--trust-dir", state);

describe("a site in a folder", () => {
  let project: PublishingProject;
  beforeAll(async () => {
    project = await publishingProject();
  });

  test("gets the build byte for byte, with the files of sign, and nothing else", async () => {
    const planned = await project.json("publish", "prod", "--dry-run");
    expect(planned.result).toBe("planned");
    expect(existsSync(join(project.www, "current"))).toBe(false);

    const done = await project.json("publish", "prod");
    expect(done).toMatchObject({ result: "published", removed: [], unchanged: 0, changed: [] });
    expect(done.added).toEqual(planned.added);
    const built = readTree(join(project.folder, "dist"));
    built.delete("metadata/signed.json");
    const live = readTree(join(project.www, "current"));
    expect(differences(built, live)).toEqual([]);
    const compressed = [...readSiblings(join(project.folder, "dist")).keys()];
    expect(compressed.length).toBeGreaterThan(0);
    expect([...readSiblings(join(project.www, "current")).keys()]).toEqual(compressed);
    expect(await verify(project)).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("serves the uploaded artifacts with any live build", () => {
    const [first] = artifactsOf(join(project.folder, "dist"), project.baseUrl);
    expect(statSync(join(project.www, "current", first?.key ?? "")).size).toBe(first?.size ?? 0);
    expect(readdirSync(project.www).sort()).toEqual([
      ".relcat-lock",
      "builds",
      "current",
      "current.json",
      "files",
      "state",
    ]);
  });

  test("does not change when a live build is published again", async () => {
    const before = readlinkSync(join(project.www, "current"));
    expect(await project.json("publish", "prod")).toMatchObject({
      result: "unchanged",
      added: [],
      changed: [],
    });
    expect(readlinkSync(join(project.www, "current"))).toBe(before);
    expect((await project.succeed("publish", "prod")).stdout).toMatch(
      /^prod has build [0-9a-f]{12} already: nothing to do\.$/,
    );
  });

  test("keeps unchanged files with their times and compressed siblings", async () => {
    const path = "current/api/v1/package/1/index.json";
    const list = "current/api/v1/package/index.json";
    const siblings = [...readSiblings(join(project.www, "current")).keys()];
    const sibling = siblings.find((name) => name.startsWith("assets/"));
    const names = [path, list, `current/${sibling}`];
    const before = names.map((name) => statSync(join(project.www, name)));
    await project.succeed("retract", "7", "--reason", "Does not start.", "--yes");
    await project.make();
    const { stdout } = await project.succeed("publish", "prod");
    expect(stdout).toMatch(/: \d+ files added, \d+ changed, \d+ removed, \d+ unchanged\.$/);
    const after = names.map((name) => statSync(join(project.www, name)));
    expect(after[0]?.ino).toBe(before[0]?.ino);
    expect(after[0]?.mtimeMs).toBe(before[0]?.mtimeMs);
    expect(after[1]?.ino).not.toBe(before[1]?.ino);
    expect(after[2]?.ino).toBe(before[2]?.ino);
    expect(existsSync(join(project.www, "current/api/v1/package/7/index.json"))).toBe(false);
    expect(await verify(project)).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("has the earlier metadata for readers under way", () => {
    const names = readdirSync(join(project.www, "current/metadata"));
    expect(names).toEqual(expect.arrayContaining(["1.snapshot.json", "2.snapshot.json", "timestamp.json"]));
  });

  test("has a history of publishers, newest first", async () => {
    const { stdout } = await project.succeed("history", "prod");
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(/^ {6}BUILD {9}TIME \(UTC\) {11}ACTION {3}PUBLISHER +COMMIT +REASON$/),
      expect.stringMatching(
        /^live {2}[0-9a-f]{12} {2}20\d\d-\d\d-\d\d \d\d:\d\d:\d\d {2}publish {2}\S+@\S+\s*$/,
      ),
      expect.stringMatching(/^ {6}[0-9a-f]{12} {2}20\d\d-\d\d-\d\d \d\d:\d\d:\d\d {2}publish {2}\S+@\S+\s*$/),
    ]);
    expect(project.state()).toMatchObject({ state: "done", hold: null, history: [{}, {}] });
  });

  test("gets a publish of its own for renewed signatures, with the same build", async () => {
    const before = project.state();
    await project.succeed("sign", "--site", "prod");
    await project.succeed("publish", "prod");
    expect(project.state()).toMatchObject({
      build: before.build,
      history: [{ action: "refresh" }, { action: "publish" }, { action: "publish" }],
    });
  });

  test("has the configuration of the web server next to it, from the same build, and not public", async () => {
    const file = join(project.folder, "releases/catalog.yaml");
    writeFileSync(file, `${readFileSync(file, "utf8")}hosts: [nginx]\n`);
    await project.make();
    await project.succeed("publish", "prod");
    expect(existsSync(join(project.www, "current/hosting"))).toBe(false);
    const hostingOf = (folder: string) => readFileSync(join(folder, "hosting/nginx/nginx.conf"), "utf8");
    expect(hostingOf(project.www)).toBe(hostingOf(join(project.folder, "dist")));
    expect(readlinkSync(join(project.www, "hosting"))).toBe(
      `${readlinkSync(join(project.www, "current"))}.hosting`,
    );
    expect(await verify(project)).toMatchObject({ exitCode: 0, stderr: "" });
    const made = readdirSync(join(project.folder, "dist"), { withFileTypes: true });
    for (const { name } of made.filter((each) => each.isDirectory()))
      expect(isInOwnFolder(`${name}/tool.deb`), name).toBe(true);
    const before = hostingOf(project.www);
    writeFileSync(file, readFileSync(file, "utf8").replace(/^product:.*/m, "product: Another"));
    await project.make();
    const configuration = join(project.folder, "dist/hosting/nginx/nginx.conf");
    const built = readFileSync(configuration, "utf8");
    writeFileSync(configuration, "changed by hand");
    expect(await project.run("publish", "prod")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(
        "error[build-changed] dist/hosting/nginx/nginx.conf is not what was built or signed",
      ),
    });
    expect(hostingOf(project.www)).toBe(before);
    writeFileSync(configuration, built);
    await project.succeed("publish", "prod");
    expect(hostingOf(project.www)).toBe(built);
    await project.succeed("rollback", "prod", "--reason", "x", "--yes");
    expect(hostingOf(project.www)).toBe(before);
    expect(await verify(project)).toMatchObject({ exitCode: 0, stderr: "" });
  });
});

describe("in a folder without hard links", () => {
  const without = (calls: readonly string[], project: PublishingProject, ...args: string[]) =>
    spawnRelcat(project.folder, args, { ...refusing(...calls), env: project.secrets });

  test("each publish copies, and keeps the times of unchanged files", async () => {
    const project = await publishingProject();
    const succeed = async (...args: string[]) => {
      const { exitCode, stderr } = await without(["linkSync"], project, ...args);
      expect(exitCode, stderr).toBe(0);
    };
    await succeed("publish", "prod");
    const page = join(project.www, "current/api/v1/package/1/index.json");
    const before = statSync(page);
    await project.succeed("retract", "7", "--reason", "Does not start.", "--yes");
    await project.make();
    await succeed("publish", "prod");
    const after = statSync(page);
    expect([after.nlink, after.mtimeMs]).toEqual([1, before.mtimeMs]);
    expect(after.ino).not.toBe(before.ino);
    expect(await verify(project)).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("publish names the kind of link that a site cannot do without", async () => {
    const project = await publishingProject();
    const { exitCode, stderr } = await without(["linkSync", "symlinkSync"], project, "publish", "prod");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(
        /^error\[file-access\] cannot make a symbolic link in \S+ \(ENOTSUP\)\n {2}hint: Put the site on a file system with symbolic links, or in a bucket; exFAT and FAT have none\.$/,
      ),
    });
    expect(existsSync(join(project.www, "current"))).toBe(false);
  });
});

describe("publish and other commands change nothing", () => {
  let project: PublishingProject;
  beforeAll(async () => {
    project = await publishingProject({
      sites: (folder) =>
        `  prod: {url: "dir:${folder}/www"}\n  other: {url: "dir:${folder}/other", base_url: "https://other.example.com"}\n` +
        `  home: {url: "dir:${folder}/home", base_url: "http://127.0.0.1:8080"}\n`,
    });
  });

  /** Status and stderr of a refused command; the site must be unchanged. */
  async function refused(...args: string[]): Promise<string> {
    const place = join(project.www, "current");
    const before = existsSync(place) ? readlinkSync(place) : undefined;
    const { exitCode, stderr } = await project.run(...args);
    expect(existsSync(place) ? readlinkSync(place) : undefined).toBe(before);
    return `${exitCode}\n${stderr}`;
  }

  test("if the site is unknown", async () => {
    expect(await refused("publish", "pord")).toBe(
      '2\nerror[site-unknown] catalog.yaml has no site "pord"\n  hint: It has prod, other, home.',
    );
  });

  test("if a history or a rollback is requested before the first publish", async () => {
    expect(await refused("history", "prod")).toBe(
      "2\nerror[site-empty] nothing was published to prod yet\n  hint: Start with: relcat publish prod",
    );
    expect(await refused("rollback", "prod", "--reason", "x", "--yes")).toContain("2\nerror[site-empty]");
  });

  test("for a build with another address", async () => {
    expect(await refused("publish", "other")).toBe(
      "2\nerror[build-other-site] the build is for https://downloads.example.com/catalog, and other is at https://other.example.com\n" +
        "  hint: Build it for that site: relcat build --released --site other",
    );
    await project.succeed("build", "--released", "--site", "other", "--out", "elsewhere");
    expect(await refused("publish", "other", "--out", "elsewhere")).toContain("1\nerror[build-unsigned]");
  });

  test("for a build whose readers would use their own host", async () => {
    await project.succeed("build", "--released", "--site", "home", "--out", "home-dist");
    expect(await refused("publish", "home", "--out", "home-dist")).toBe(
      "2\nerror[build-other-site] home would send its readers to http://127.0.0.1:8080, which is their own machine\n" +
        "  hint: Set base_url in catalog.yaml to the address of the site.",
    );
  });

  test("without a build", async () => {
    const said = (options: string) =>
      `2\nerror[folder-missing] nowhere does not contain a built site\n  hint: Build one first: relcat build ${options} --released`;
    expect(await refused("publish", "prod", "--out", "nowhere")).toBe(said("--site prod --out nowhere"));
    expect(await refused("sign", "--out", "nowhere")).toBe(said("--out nowhere"));
    expect(existsSync(join(project.folder, "nowhere"))).toBe(false);
  });

  test("with an invalid build.json", async () => {
    mkdirSync(join(project.folder, "broken"));
    writeFileSync(join(project.folder, "broken/build.json"), '{"files":');
    expect(await refused("publish", "prod", "--out", "broken")).toBe(
      "2\nerror[folder-not-ours] broken/build.json is not a build of relcat's\n  hint: Build it again: relcat build --site prod --out broken --released",
    );
  });

  test("for a build that was changed since", async () => {
    const file = join(project.folder, "dist/latest.txt");
    const path = existsSync(file) ? "latest.txt" : "index.html";
    const before = readFileSync(join(project.folder, "dist", path));
    writeFileSync(join(project.folder, "dist", path), "x");
    expect(await refused("publish", "prod")).toBe(
      `1\nerror[build-changed] dist/${path} is not what was built or signed\n` +
        "  hint: Build and sign again: relcat build --site prod --released, then relcat sign --site prod",
    );
    writeFileSync(join(project.folder, "dist", path), before);
  });

  test("for an unsigned build", async () => {
    await project.succeed("build", "--released", "--out", "unsigned");
    expect(await refused("publish", "prod", "--out", "unsigned")).toBe(
      "1\nerror[build-unsigned] unsigned is not signed, or was built again since, and catalog.yaml requires signatures\n" +
        "  hint: Sign it, continuing from the published metadata: relcat sign --out unsigned --site prod",
    );
  });

  test("for a build of an open release", async () => {
    await project.succeed("new", "26.09");
    await project.succeed("build", "--out", "provisional");
    expect(await refused("publish", "prod", "--out", "provisional")).toBe(
      "1\nerror[build-provisional] the build has content that is not cut: 26.09.001\n" +
        "  hint: Build only cut releases: relcat build --site prod --out provisional --released",
    );
    rmSync(join(project.folder, "releases/26.09.001"), { recursive: true });
  });

  test("while an artifact is missing, or shorter than in the list", async () => {
    const [one, two] = artifactsOf(join(project.folder, "dist"), project.baseUrl).filter(({ size }) => size);
    const paths = [one, two].map((artifact) => join(project.www, artifact?.key ?? ""));
    rmSync(paths[0] ?? "");
    truncateSync(paths[1] ?? "", 3);
    const said = await refused("publish", "prod");
    expect(said).toContain("1\nerror[artifact-unpublished] ");
    expect(said).toContain(`dir:${paths[0]} is missing`);
    expect(said).toContain(`${project.baseUrl}/${two?.key} has 3 bytes, expected ${two?.size}`);
    expect(said).toContain("hint: Nothing was published. Upload where they were built: relcat upload ");
    project.artifacts();
  });

  test("if the ledger differs from the build", async () => {
    await project.succeed("publish", "prod");
    await project.succeed("retract", "7", "--reason", "Does not start.", "--yes");
    expect(await refused("publish", "prod")).toMatch(
      /^1\nerror\[build-stale\] the build was made before the last line of the ledger\n {2}hint: Build it again with the current ledger: relcat build --site prod --released, then relcat sign --site prod$/,
    );
  });

  test("for a checkout that is older than the live site", async () => {
    await project.make();
    await project.succeed("publish", "prod");
    const ledger = join(project.folder, "releases/ledger.jsonl");
    const newest = readFileSync(ledger, "utf8");
    writeFileSync(ledger, newest.split("\n").slice(0, -2).concat("").join("\n"));
    await project.make();
    expect(await refused("publish", "prod")).toMatch(
      /^3\nerror\[site-newer\] prod has a ledger of \d+ public lines that the one here does not begin with\n {2}hint: This checkout is older than the published state, or on another branch: publish from the newest main\.$/,
    );
    writeFileSync(ledger, newest);
    await project.make();
  });

  test("while another publisher has the turn, until its lease ends", async () => {
    await project.succeed("sign", "--site", "prod");
    const state = project.state();
    const file = join(project.www, "current.json");
    const busy = { ...state, state: "publishing", publisher: "ann@elsewhere", run: "1-0" };
    const until = (time: number) => new Date(time).toISOString().replace("Z", "000Z");
    const soon = until(Date.now() + 60_000);
    writeFileSync(file, JSON.stringify({ ...busy, lease_until: soon }));
    expect(await refused("publish", "prod")).toBe(
      `3\nerror[site-taken] ann@elsewhere is publishing ${String(state.build).slice(0, 12)} there, until ${soon} at the latest\n` +
        "  hint: Nothing was changed. Run the command again after that.",
    );
    expect((await project.succeed("history", "prod")).stdout).toContain("ann@elsewhere is publishing");
    writeFileSync(file, JSON.stringify({ ...busy, lease_until: until(Date.now() - 1000) }));
    await project.succeed("publish", "prod");
    expect(await verify(project)).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("with a foreign state", async () => {
    const file = join(project.www, "current.json");
    const before = readFileSync(file);
    writeFileSync(file, '{"schema_version":1}');
    expect(await refused("publish", "prod")).toContain("6\nerror[site-tampered]");
    writeFileSync(file, before);
  });

  test("in a folder of another owner", async () => {
    writeFileSync(join(project.folder, "other-file"), "");
    const other = await publishingProject();
    rmSync(join(other.www, "current"), { force: true });
    writeFileSync(join(other.www, "current"), "mine");
    const { exitCode, stderr } = await other.run("publish", "prod");
    expect(exitCode).toBe(2);
    expect(stderr).toContain("error[folder-not-ours]");
    expect(lstatSync(join(other.www, "current")).isFile()).toBe(true);
  });
});

describe("under a umask that lets no one else read", () => {
  const version = "26.09.001";
  const modesBelow = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isSymbolicLink())
      .map((entry) => statSync(join(entry.parentPath, entry.name)))
      .map((stats) => (stats.mode & (stats.isDirectory() ? 0o755 : 0o644)).toString(8));

  /** Uploads, builds and publishes with a umask. @returns modes of the site's folders and files */
  async function publishedWith(umask: string, prepare = (_site: string) => {}) {
    const made = project({
      "releases/catalog.yaml": {
        require: {},
        base_url: "https://downloads.example.com",
        trust: { profile: "none" },
        sites: { x: { url: "dir:www/site" } },
      },
      ...release(version, []),
      "out/a.msi": "a",
    });
    mkdirSync(join(made.folder, "www"));
    prepare(join(made.folder, "www/site"));
    const steps = [
      `ingest --release ${version} out`,
      `upload out/a.msi --site x --release ${version}`,
      `cut ${version}`,
      "build --site x --released",
      "publish x",
    ].map((words) => `"$0" "$1" ${words}`);
    const shell = `umask ${umask} && ${steps.join(" && ")}`;
    await execa("bash", ["-c", shell, process.execPath, program], { cwd: made.folder });
    const site = join(made.folder, "www/site");
    const modeOf = (path: string) => (statSync(join(site, path)).mode & 0o777).toString(8);
    return {
      modeOf,
      live: [...new Set(["builds", "files"].flatMap((path) => modesBelow(join(site, path))))].sort(),
    };
  }

  test("a published site and its artifacts can be read by a web server", async () => {
    const { modeOf, live } = await publishedWith("077");
    expect(live).toEqual(["644", "755"]);
    expect(["", "builds", "files", "current/"].map(modeOf)).toEqual(["755", "755", "755", "755"]);
    expect(modeOf("current.json")).toBe("600");
  });

  test("a group that may read keeps its modes, and a closed folder of a site stays closed", async () => {
    const closed = (site: string) => mkdirSync(site, { mode: 0o700 });
    const { modeOf, live } = await publishedWith("027", closed);
    expect(live).toEqual(["640", "750"]);
    expect(modeOf("")).toBe("700");
  });
});
