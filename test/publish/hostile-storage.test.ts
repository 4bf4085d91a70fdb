import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { some } from "../support/effort.ts";
import { temporaryFolder } from "../support/run.ts";
import { folderStorage, sha256, stateOf } from "./forged-site.ts";
import { changeText, inDays, type PublishingProject, publishingProject } from "./support.ts";

const refresh = ["publish", "prod", "--refresh"];
const back = ["rollback", "prod", "--reason", "x", "--yes"];

function edit<T>(file: string, change: (document: T) => void): void {
  const document = JSON.parse(readFileSync(file, "utf8"));
  change(document);
  writeFileSync(file, JSON.stringify(document));
}

async function publishThrice(trust: "simple" | "none"): Promise<PublishingProject> {
  const project = await publishingProject({ trust });
  await project.succeed("publish", "prod");
  for (const note of ["Second.", "Third."]) {
    changeText(project, note);
    await project.succeed("build", "--released");
    if (trust === "simple") await project.succeed("sign", "--site", "prod", "--now", inDays(-5));
    await project.succeed("publish", "prod");
  }
  return project;
}

/** Puts the site and dist/ back as they were before each test. */
function restoredEach(project: () => PublishingProject): void {
  let sound = "";
  beforeEach(() => {
    const { folder } = project();
    const isFirst = sound === "";
    if (isFirst) sound = temporaryFolder();
    for (const name of ["www", "dist"]) {
      const [from, to] = [join(folder, name), join(sound, name)];
      if (isFirst) cpSync(from, to, { recursive: true, verbatimSymlinks: true });
      rmSync(from, { recursive: true, force: true });
      cpSync(to, from, { recursive: true, verbatimSymlinks: true });
    }
  });
}

describe("an attacker who can write the folder of a signed site", () => {
  let project: PublishingProject;
  beforeAll(async () => {
    project = await publishThrice("simple");
  });
  restoredEach(() => project);
  const www = (path: string) => join(project.www, path);
  const state = () => stateOf(folderStorage(project.www));
  const newest = () => state().history[0]?.files ?? "";
  const verify = () =>
    project.succeed("verify", "www/current", "--root", "releases/trust/1.root.json", "--trust-dir", "seen");
  const refuses = async (message: RegExp, ...args: string[]) => {
    const { exitCode, stderr } = await project.run(...args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 6, stderr: expect.stringMatching(message) });
  };

  test("cannot get an earlier build signed by naming it in current.json", async () => {
    const earlier = state().history.at(-1);
    edit(www("current.json"), (state) =>
      Object.assign(state as object, { build: earlier?.build, history: [earlier] }),
    );
    await refuses(
      /^error\[build-unproved\] \S+: metadata\/\d+\.snapshot\.json of the kept build \S+ is not the live snapshot: current\.json names a build that is not live\n/,
      ...refresh,
    );
  });

  test("cannot lower the timestamp's version by restoring an earlier timestamp", async () => {
    await verify();
    const earlier = state().history.at(-1)?.files ?? "";
    cpSync(www(`builds/${earlier}/metadata/timestamp.json`), www("current/metadata/timestamp.json"));
    for (const name of ["metadata", "targets"])
      rmSync(join(project.folder, "dist", name), { recursive: true });
    await project.succeed("sign", "--site", "prod");
    await project.succeed("publish", "prod");
    await verify();
  });

  test("cannot make relcat read, write or remove a file through a link in the place of builds", async () => {
    const outside = join(temporaryFolder(), "builds");
    cpSync(www("builds"), outside, { recursive: true, verbatimSymlinks: true });
    const before = readdirSync(outside);
    rmSync(www("builds"), { recursive: true });
    symlinkSync(outside, www("builds"));
    for (const args of [refresh, back, ["publish", "prod"], ["sign", "--site", "prod"]])
      await refuses(
        /^error\[site-tampered\] \S+www\/(builds|current) is a symbolic link that leads out of /,
        ...args,
      );
    expect(readdirSync(outside)).toEqual(before);
  });

  test("cannot get a foreign file published through a link in the place of a build", async () => {
    const outside = join(temporaryFolder(), "outside");
    renameSync(www(`builds/${newest()}`), outside);
    mkdirSync(join(outside, "assets"), { recursive: true });
    writeFileSync(join(outside, "assets/secret.txt"), "secret");
    symlinkSync(outside, www(`builds/${newest()}`));
    await refuses(/^error\[site-tampered\] \S+ is a symbolic link that leads out of /, ...refresh);
  });

  test("cannot get a file kept from build to build by listing it as leaving", async () => {
    const planted = [
      "assets/evil.html",
      "assets/evil.00000000.js",
      `targets/${"0".repeat(64)}.evil.json`,
      "metadata/evil.html",
    ];
    for (const path of planted) {
      mkdirSync(join(www("current"), path, ".."), { recursive: true });
      writeFileSync(join(www("current"), path), "evil");
    }
    edit<{ leaving: Record<string, string> }>(www(`state/${newest()}.json`), ({ leaving }) => {
      for (const path of planted) leaving[path] = "9999-01-01T00:00:00.000000Z";
    });
    const kept = readdirSync(www("current/metadata")).filter((name) => name.endsWith(".json"));
    await project.succeed(...refresh);
    expect(planted.filter((path) => existsSync(join(www("current"), path)))).toEqual([]);
    expect(readdirSync(www("current/metadata"))).toEqual(expect.arrayContaining(kept));
  });

  test("cannot make a command wait for a pipe", async () => {
    for (const path of ["current/metadata/timestamp.json", "current.json"]) {
      rmSync(www(path));
      execFileSync("mkfifo", [www(path)]);
      await refuses(
        /^error\[site-tampered\] \S+ is a pipe, a socket or a device, expected a file\n/,
        ...refresh,
      );
    }
  });

  test("cannot put a command into a hint", async () => {
    edit<ReturnType<typeof stateOf>>(www("current.json"), (state) => {
      state.hold = { reason: "x", by: "y", since: state.at, commit: "$(id)" };
    });
    await refuses(
      /: hold\.commit: expected a whole commit id, 40 or 64 lowercase hexadecimal characters\n/,
      "publish",
      "prod",
    );
    edit<ReturnType<typeof stateOf>>(www("current.json"), (state) => {
      state.hold = { reason: "x", by: "y", since: state.at, commit: "a".repeat(64) };
    });
    expect((await project.run("publish", "prod")).stderr).toContain("--at aaaaaaaaaaaa ");
  });

  test("with access to dist/ cannot make sign write outside of it or remove files of the build", async () => {
    const outside = temporaryFolder();
    const dist = (path: string) => join(project.folder, "dist", path);
    edit<{ files: Record<string, object> }>(dist("metadata/signed.json"), ({ files }) => {
      for (const path of ["build.json", "api"]) files[path] = { sha256: "", size: 1 };
    });
    await project.succeed("sign", "--site", "prod");
    expect(existsSync(dist("build.json"))).toBe(true);
    rmSync(dist("targets"), { recursive: true });
    symlinkSync(outside, dist("targets"));
    await refuses(
      /^error\[site-tampered\] dist\/targets is a symbolic link that leads out of dist/,
      "sign",
      "--site",
      "prod",
    );
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe("an attacker who can write the folder of a site that is not signed", () => {
  let project: PublishingProject;
  beforeAll(async () => {
    project = await publishThrice("none");
  });
  restoredEach(() => project);

  const list = "api/v1/package/index.json";
  const texts = [
    ["build.json", "garbage"],
    ["build.json", "null"],
    [list, "garbage"],
    [list, "[null]"],
    [list, '[{"id":1}]'],
  ] as const;
  test.each(some(texts, 3))("gets a message if the kept %s is %s", async (path, text) => {
    const entry = stateOf(folderStorage(project.www)).history[1];
    const build = join(project.www, "builds", entry?.files ?? "");
    writeFileSync(join(build, path), text);
    const known = { sha256: sha256(Buffer.from(text)), size: text.length, headers: "x" };
    if (path === list)
      for (const file of [join(build, "build.json"), join(project.www, `state/${entry?.files}.json`)])
        edit<{ files: Record<string, object> }>(file, ({ files }) => {
          files[list] = known;
        });
    edit<ReturnType<typeof stateOf>>(join(project.www, "current.json"), ({ history }) => {
      if (history[1]) history[1].build = sha256(readFileSync(join(build, "build.json")));
    });
    const { exitCode, stderr } = await project.run(...back);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 6,
      stderr: expect.stringMatching(
        /^error\[site-tampered\] dir:\S+: \S+ of the kept build [0-9a-f]{12} is not what relcat writes: /,
      ),
    });
  });
});
