import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifySite } from "../../pipeline/verify/verify.ts";
import { buildJobs, deb, manifest, readText } from "../publish/uploading.ts";
import { madeController } from "../support/controller.ts";
import { callsOf, countCalls, killedAt, killPoints } from "../support/interrupt.ts";
import { note, project } from "../support/project.ts";
import { temporaryFolder } from "../support/run.ts";
import { signedProject } from "../trust/support.ts";
import { copyOf, daysFromNow, rootOf } from "../verify/support.ts";

const { build } = buildJobs();

test("new, killed between any two effects, leaves every note in exactly one place and shows unfinished work", async () => {
  const names = ["a.yaml", "b.yaml", "c.yaml"];
  const files = Object.fromEntries(
    names.map((name) => [`releases/next/notes/${name}`, note(`Change ${name}.`)]),
  );
  const calls = await callsOf(project(files).folder, ["new", "26.09"]);
  const [first = 0, ...later] = killPoints(calls, 4);
  for (const call of [first, ...later]) {
    const { folder, list, read, run } = project(files);
    await killedAt(call, folder, ["new", "26.09"]);
    const places = [...list("releases/next/notes"), ...list("releases/26.09.001/notes")].filter(
      (name) => name !== ".gitkeep",
    );
    expect(places.sort(), `killed at ${call}`).toEqual(names);
    const moved = list("releases/26.09.001/notes").length;
    const isWhole = list("releases/26.09.001").includes("release.yaml");
    if (isWhole) expect(read("releases/26.09.001/release.yaml")).toMatch(/\nopened: .+Z\n# summary: .+\n$/);
    if (call === first) expect(moved).toBe(0);
    if (moved === 0 || isWhole) continue;
    const { exitCode, stdout } = await run("check");
    expect(stdout, `killed at ${call}`).toContain("error[release-missing] the release has no release.yaml");
    expect(exitCode).toBe(1);
  }
});

test("upload is safe to kill at any time: each file is complete or missing, and the next run succeeds", async () => {
  const files = { ...manifest(deb()), "out/tool.deb": "package" };
  const args = ["upload", "out/tool.deb", "--site", "folder", "--manifest", "m.json"];
  const calls = await callsOf(build({}, files).folder, args);
  expect(calls.length).toBeGreaterThan(8);
  const before = build({}, files).read("m.json");
  for (const call of killPoints(calls, 6)) {
    const made = build({}, files);
    await killedAt(call, made.folder, args);
    const target = join(made.folder, "site/files/26.08.001/tool.deb");
    expect([undefined, "package"]).toContain(readText(target));
    if (made.read("m.json") !== before) expect(readText(target)).toBe("package");
    await made.succeed(...args);
    expect(readText(target)).toBe("package");
    expect(JSON.parse(made.read("m.json")).artifacts[0].size).toBe(7);
    expect(readdirSync(join(target, ".."))).toEqual(["tool.deb"]);
  }
});

test("a backup that is killed before any of its writes is missing or complete, and the next one removes its remains", async () => {
  const { folder, succeed } = await madeController();
  const args = (name: string) => [
    "controller",
    "backup",
    name,
    "--database",
    "controller.db",
    "--with-pepper",
  ];
  const named = () => readdirSync(folder).filter((name) => name.startsWith("killed.db"));
  const calls = await countCalls(folder, args("counted.db"));
  const seen = new Set<string>();
  for (let call = 1; call <= calls && !existsSync(join(folder, "killed.db")); call++) {
    await killedAt(call, folder, args("killed.db"));
    for (const name of named()) seen.add(name.replace(/\d+/, "N"));
  }
  expect([...seen].sort()).toEqual([
    "killed.db",
    "killed.db.N.part",
    "killed.db.pepper",
    "killed.db.pepper.N.part",
  ]);
  await succeed(["controller", "audit", "verify", "--database", "killed.db"]);
  rmSync(join(folder, "killed.db"));
  await succeed(args("killed.db"));
  expect(named().filter((name) => !/-(wal|shm)$/.test(name))).toEqual(["killed.db", "killed.db.pepper"]);
});

test("the state that verify remembers is usable after a kill at any time", async () => {
  const signed = await signedProject("simple", new Date(Date.now() - 6 * 24 * 3_600_000).toISOString());
  await signed.sign(...daysFromNow(-5));
  const whole = copyOf(signed.dist);
  await signed.sign(...daysFromNow(0));
  const place = join(temporaryFolder(), "site");
  const at = (from: string) => {
    rmSync(place, { recursive: true, force: true });
    cpSync(from, place, { recursive: true });
  };
  const args = (state: string) => ["verify", place, "--root", rootOf(signed), "--trust-dir", state];
  const seen = temporaryFolder();
  at(whole);
  expect((await signed.relcat(args(seen))).exitCode).toBe(0);
  at(signed.dist);
  const calls = await callsOf(signed.folder, args(copyOf(seen)));
  expect(calls.length).toBeGreaterThan(4);
  for (const call of killPoints(calls, 4)) {
    const state = copyOf(seen);
    await killedAt(call, signed.folder, args(state));
    const [folder = ""] = readdirSync(state);
    const request = { place, root: readFileSync(rootOf(signed)), state: join(state, folder) };
    expect([call, (await verifySite(request)).verdict]).toEqual([call, "ok"]);
  }
});
