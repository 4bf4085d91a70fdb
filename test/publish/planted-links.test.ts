import {
  cpSync,
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
import { hostilePaths } from "../support/hostile-paths.ts";
import { copying } from "../support/project.ts";
import { differences, readTree, type Tree } from "../support/tree.ts";
import { type PublishingProject, publishingProject } from "./support.ts";

/**
 * An attacker who can write a site's folder, or the folder of a build, puts links and paths there. Commands must not
 * read, write or remove anything outside of these folders.
 */
let project: PublishingProject;
/** Files of the person who runs the commands. */
let outside: string;
let saved: string;
/** The name of the live build's folder. */
let name: string;

const at = (...path: string[]) => join(project.folder, ...path);
const www = (...path: string[]) => at("www", ...path);
const dist = (...path: string[]) => at("dist", ...path);
const victim = () => join(outside, "victim");

beforeAll(async () => {
  project = await publishingProject();
  outside = at("outside");
  saved = at("saved");
  await project.succeed("publish", "prod");
  name = project.state().history[0]?.files ?? "";
  for (const folder of ["dist", "www"]) cpSync(at(folder), join(saved, folder), copying);
});
beforeEach(() => {
  for (const folder of ["dist", "www"]) {
    rmSync(at(folder), { recursive: true });
    cpSync(join(saved, folder), at(folder), copying);
  }
  rmSync(outside, { recursive: true, force: true });
  mkdirSync(outside);
  writeFileSync(victim(), "victim");
});

/** Moves a file or folder out of its folder, and puts a link to it in its place. */
function moveOut(path: string): void {
  renameSync(path, join(outside, "moved"));
  symlinkSync(join(outside, "moved"), path);
}

function link(path: string, target: string): void {
  rmSync(path, { force: true });
  symlinkSync(target, path);
}

const seen = () => [outside, www("builds", name), dist()].map(readTree);
const expectUnchanged = (before: readonly Tree[]) =>
  expect(seen().map((tree, index) => differences(before[index] ?? new Map(), tree))).toEqual([[], [], []]);
type Edited = Record<string, Record<string, unknown>>;

function addFile(document: string, path: string): void {
  const value: Edited = JSON.parse(readFileSync(document, "utf8"));
  value.files = { ...value.files, [path]: { sha256: "0".repeat(64), size: 6 } };
  writeFileSync(document, JSON.stringify(value));
}

/** The command exits 6 with this message, and changes nothing: neither outside nor in the live build. */
async function refuses(args: readonly string[], message: string | RegExp): Promise<void> {
  const before = seen();
  const { exitCode, stderr } = await project.run(...args);
  expect({ exitCode, stderr }).toEqual({ exitCode: 6, stderr: expect.stringMatching(message) });
  expectUnchanged(before);
}

const sign = ["sign", "--site", "prod"];
const publish = ["publish", "prod"];
const refresh = [...publish, "--refresh"];
const repair = [...publish, "--repair"];
const rollback = () => {
  const { build = "" } = project.state().history[0] ?? {};
  return ["rollback", "prod", "--reason", "x", "--yes", "--to", build];
};
const leadsOut = (path: string) =>
  new RegExp(
    `^error\\[site-tampered\\] \\S*${path.replaceAll(".", "\\.")} is a symbolic link that leads out of \\S+, or nowhere\\n {2}hint: Nothing was read or written through it\\.`,
  );

describe("documents of a build's folder", () => {
  test.each(some(hostilePaths, 4))("cannot name a path that %s (%#)", async (fault, path) => {
    const shown = JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}…` : path);
    const before = seen();
    for (const [document, args] of [
      ["build.json", sign],
      ["metadata/signed.json", publish],
    ] as const) {
      const text = readFileSync(dist(document), "utf8");
      addFile(dist(document), path);
      // Control characters are replaced for a terminal.
      const said = `dist/${document} is not what relcat writes: files: the path ${shown.replace("\u0085", "\ufffd")} ${fault}\n`;
      const { exitCode, stderr } = await project.run(...args);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 6,
        stderr: expect.stringContaining(`error[site-tampered] ${said}`),
      });
      writeFileSync(dist(document), text);
    }
    expectUnchanged(before);
  });

  test("are not served with a path that leads out", async () => {
    for (const document of ["build.json", "metadata/signed.json"]) {
      const text = readFileSync(dist(document), "utf8");
      addFile(dist(document), "../outside/victim");
      expect(await project.run("serve", "--dir", "dist", "--port", "0")).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining(
          `${document} names "../outside/victim", which is not a path inside the site`,
        ),
      });
      writeFileSync(dist(document), text);
    }
  });
});

describe("a build's folder", () => {
  test.each(some(["build.json", "metadata", "targets", "api"], 3))(
    "is neither signed nor published when %s is a link that leads out",
    async (path) => {
      moveOut(dist(path));
      await refuses(sign, leadsOut(`dist/${path}`));
      await refuses(publish, leadsOut(`dist/${path}`));
    },
  );

  test("is signed without writing through a link in the place of a temporary file", async () => {
    symlinkSync(victim(), dist("metadata/.relcat-tmp-signed.json"));
    await project.succeed(...sign);
    expect(readFileSync(victim(), "utf8")).toBe("victim");
  });

  test("is not emptied through a link in the place of its work folder", async () => {
    rmSync(dist(".relcat-tmp"), { recursive: true, force: true });
    symlinkSync(outside, dist(".relcat-tmp"));
    await refuses(["build", "--released", "--now", "2026-10-01T00:00:00Z"], leadsOut("dist/.relcat-tmp"));
  });
});

const planted: [string, () => string][] = [
  ["current.json", () => "current.json"],
  ["state", () => "state"],
  ["the index of the live build", () => `state/${name}.json`],
  ["builds", () => "builds"],
  ["the live build", () => `builds/${name}`],
  ["a file of the live build", () => `builds/${name}/index.html`],
  ["the live build's metadata", () => `builds/${name}/metadata`],
];

describe("a site's folder", () => {
  test.each(some(planted, 5))(
    "is refused by every command when %s is a link that leads out",
    async (_, path) => {
      const back = rollback();
      moveOut(www(path()));
      const leaving = leadsOut(path().endsWith("metadata") ? "/metadata" : path());
      for (const args of [publish, refresh, back]) await refuses(args, leaving);
    },
  );

  test("is refused when current leads to the folder above the builds", async () => {
    link(www("current"), "builds/..");
    for (const args of [repair, refresh])
      await refuses(args, /^error\[site-tampered\] the path "builds\/\.\." has the segment/);
  });

  test("is refused when its lock is a link", async () => {
    link(www(".relcat-lock"), join(outside, "new-lock"));
    const message =
      /^error\[site-tampered\] \S+\/\.relcat-lock is a symbolic link, expected the file of a lock\n/;
    for (const args of [refresh, rollback()]) await refuses(args, message);
  });

  test("is written without following links in the places of temporary files", async () => {
    symlinkSync(victim(), www(".relcat-tmp-current.json"));
    symlinkSync(victim(), www(".relcat-tmp-current"));
    await project.succeed(...refresh);
    expect(readFileSync(victim(), "utf8")).toBe("victim");
  });

  test("loses a left-over build that is a link, and keeps what it led to", async () => {
    const old = "0123456789ab-1-89abcdef";
    for (const path of ["builds", "state"]) expect(readdirSync(www(path)).join()).not.toContain(old);
    symlinkSync(outside, www("builds", old));
    await project.succeed(...refresh);
    expect(readFileSync(victim(), "utf8")).toBe("victim");
  });

  test("gets its link to the artifacts back where it led elsewhere: web servers follow any link", async () => {
    link(www("builds", name, "files"), outside);
    expect((await project.succeed(...repair)).stderr).toContain("files was no link to the artifacts");
    expect(readTree(outside).size).toBe(1);
  });

  test("can have metadata files with unknown role names, which are ignored", async () => {
    for (const role of ["..", "%2e%2e%2fx", "a\nb", "a\\b", "x".repeat(200), "releases-26.08.x"])
      writeFileSync(www("current/metadata", `9000.${role}.json`), "{}");
    await project.succeed(...sign);
    await project.succeed(...refresh);
    expect(readdirSync(dist("metadata")).filter((file) => file.startsWith("9"))).toEqual([]);
  });
});
