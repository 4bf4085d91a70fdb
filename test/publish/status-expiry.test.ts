/** @module-tag long */
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { relcat } from "../support/run.ts";
import { type PublishingProject, publishingProject } from "./support.ts";

let project: PublishingProject;

const inDays = (days: number, ...args: string[]) =>
  relcat(project.folder, args, { env: project.secrets, ahead: days * 86_400_000 });

/** The row of the site, the suggested command, its reason, and the exit status. */
async function statusIn(days: number) {
  const { exitCode, stdout } = await inDays(days, "status");
  const lines = stdout.split("\n");
  const row = lines.find((line) => line.startsWith("prod "))?.replace(/^.* live, /, "");
  return [exitCode, row, ...lines.slice(-2)];
}

beforeAll(async () => {
  project = await publishingProject();
  await project.succeed("sign", "--site", "prod");
  await project.succeed("publish", "prod");
});

const refresh = "relcat publish prod --refresh";
const renew = "relcat trust sign --keys KEYS";

test("status names the refresh from half of the lifetime on, and exits with 7 after the end", async () => {
  expect(await statusIn(1)).toEqual([
    ...[0, "timestamp expires in 5 days", "Next: nothing to do", "  every ledger line is published"],
  ]);
  const due = "timestamp expires in 2 days";
  expect(await statusIn(4)).toEqual([0, `${due}: ${refresh}`, `Next: ${refresh}`, `  prod: ${due}`]);
  expect((await statusIn(6))[1]).toBe(`timestamp expires within a day: ${refresh}`);
  const over = "timestamp has expired";
  expect(await statusIn(8)).toEqual([7, `${over}: ${refresh}`, `Next: ${refresh}`, `  prod: ${over}`]);
  const { stdout } = await inDays(8, "status", "--json");
  const { sites, next } = JSON.parse(stdout);
  expect(next.command).toBe(refresh);
  const stateOf = (role: string) => sites[0].ends.find((end: { role: string }) => end.role === role);
  expect(stateOf("timestamp")).toMatchObject({ days: -2, state: "expired", command: refresh });
  expect(stateOf("snapshot")).toMatchObject({ state: "due", command: refresh });
  expect(stateOf("root")).toMatchObject({ state: "valid", command: null });
});

test("status names the command of the key holders 60 days before targets and root expire", async () => {
  // So that only what is signed offline is due. A clock may be 90 days ahead of the newest signature.
  for (const days of [80, 160, 240, 304])
    expect((await inDays(days, ...refresh.split(" ").slice(1))).exitCode).toBe(0);
  const early = await inDays(304, ...refresh.split(" ").slice(1));
  expect(early.stderr).not.toContain("trust-expired");
  expect((await statusIn(304)).slice(0, 2)).toEqual([
    0,
    expect.stringMatching(/^timestamp expires in \d days$/),
  ]);
  expect(await statusIn(306)).toEqual([
    0,
    `root expires in 58 days: ${renew}`,
    `Next: ${renew}`,
    expect.any(String),
  ]);
});

test("sign and a refresh, which run every day, warn 60 days before root and targets expire", async () => {
  for (const command of ["-q publish prod --refresh", "-q sign --site prod"]) {
    const { exitCode, stderr } = await inDays(306, ...command.split(" "));
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^warning\[trust-expired\] the root metadata in releases\/trust expires on \S+, and then clients reject the site\n {2}hint: Holders of root keys renew it: relcat trust sign --keys KEYS, and commit releases\/trust\. Then run the command again\.\nwarning\[trust-expired\] the targets metadata/,
      ),
    ]);
  }
});

test("publish refuses a root that has expired since the build was signed", async () => {
  expect((await inDays(363, "sign", "--site", "prod")).exitCode).toBe(0);
  const { exitCode, stderr } = await inDays(367, "publish", "prod");
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringMatching(
      /^error\[build-unsigned\] dist has expired: its root ended on \S+\n {2}hint: Holders of root keys renew it: relcat trust sign --keys KEYS\. Then sign again: relcat sign --site prod$/,
    ),
  ]);
});

test("sign and refresh refuse root and targets that have expired, and the named commands renew the site", async () => {
  expect(await statusIn(370)).toEqual([
    7,
    expect.stringContaining(`has expired: ${refresh}, root has expired: ${renew}`),
    `Next: ${renew}`,
    "  prod: root has expired",
  ]);
  for (const args of [["sign", "--site", "prod"], refresh.split(" ").slice(1)]) {
    const { exitCode, stderr } = await inDays(370, ...args);
    expect([exitCode, stderr.match(/trust-expired/g)]).toEqual([7, ["trust-expired", "trust-expired"]]);
    expect(stderr).toContain(
      `hint: The holder of the targets key renews it: ${renew}, and commit releases/trust. Then run the command again.`,
    );
  }
  expect((await inDays(370, "trust", "list")).stdout).toMatch(/^root +version 1, until \S+ \(expired\)/);
  expect((await inDays(370, "trust", "sign", "--keys", project.keys)).exitCode).toBe(0);
  const renewed = await statusIn(370);
  expect([renewed[0], renewed[2]]).toEqual([7, `Next: ${refresh}`]);
  const published = await inDays(370, ...refresh.split(" ").slice(1));
  expect([published.exitCode, published.stderr]).toEqual([0, expect.any(String)]);
  expect((await statusIn(370)).slice(0, 1)).toEqual([0]);
  // The first root has expired and stays at the site: clients begin with it.
  const root = JSON.parse(readFileSync(`${project.folder}/releases/trust/1.root.json`, "utf8"));
  const { stdout } = await inDays(370, "sign", "--site", "prod", "--json");
  expect(JSON.parse(stdout).expires > root.signed.expires).toBe(true);
});

test("status exits with 7 if the site was signed by a clock that was ahead", async () => {
  const ahead = "timestamp was signed by a clock that was ahead";
  expect(await statusIn(360)).toEqual([7, `${ahead}: ${refresh}`, `Next: ${refresh}`, `  prod: ${ahead}`]);
});
