/** @module-tag long */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { afterFile } from "../support/after-file.ts";
import { feedKey } from "../support/feed-keys.ts";
import { copying } from "../support/project.ts";
import { lastingFolder, relcat, temporaryFolder } from "../support/run.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { signedFeeds } from "../support/signed-feeds.ts";
import { clientsAccept } from "./clients-accept.ts";
import { inDays } from "./support.ts";

const day = 86_400_000;

let fake: S3Fake;
let template: string;
let env: Record<string, string>;
let folder: string;

/** A site in a folder, signed five days ago, and an empty bucket. */
beforeAll(async () => {
  fake = await startS3Fake();
  afterFile(() => fake.stop());
  const key = await feedKey({ date: new Date("2026-09-01T00:00:00Z") });
  const bucket = { url: "s3://site/pre/", endpoint: fake.endpoint, region: "us-east-1" };
  const project = await signedFeeds([{ key, state: "signing" }], {
    trust: { profile: "simple", valid_days: 7 },
    sites: { prod: { url: "dir:www" }, bucket },
  });
  env = { ...project.env, ...fake.environment };
  await project.succeed("build", "--released", "--site", "prod");
  await project.succeed("sign", "--site", "prod", "--now", inDays(-9));
  await project.succeed("sign", "--site", "prod", "--now", inDays(-5));
  project.artifacts();
  await project.succeed("publish", "prod");
  template = lastingFolder();
  cpSync(project.folder, template, copying);
});

beforeEach(() => {
  folder = temporaryFolder();
  cpSync(template, folder, copying);
});

const live = (path: string) => readFileSync(join(folder, "www/current", path), "utf8");
const run = (...args: string[]) => relcat(folder, args, { env });
/** Runs a command on a machine whose clock is ahead by some days. */
const runAhead = (days: number, ...args: string[]) => relcat(folder, args, { env, ahead: days * day });

async function succeed(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run(...args);
  expect([args, exitCode, stderr]).toEqual([args, 0, stderr]);
  return stdout;
}

const clientsAcceptLive = (now?: number) => clientsAccept(join(folder, "www/current"), folder, now);

describe("a clock that was ahead by 40 days", () => {
  test("during publish --refresh, is corrected by the next refresh", async () => {
    expect(await runAhead(40, "publish", "prod", "--refresh")).toMatchObject({ exitCode: 0 });
    expect(await run("verify", "www/current")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("If it is right, that of the publisher was ahead: relcat publish SITE"),
    });
    expect(await run("publish", "prod")).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining("error[site-newer] dist was signed before the live build at prod"),
    });
    expect(await succeed("publish", "prod", "--refresh")).toContain("Published build");
    await clientsAcceptLive();
    expect(await succeed("publish", "prod", "--refresh")).toContain("nothing to do");
  });

  test("during sign, is noticed before the build is live, and by publish when it is", async () => {
    expect(await runAhead(40, "sign", "--site", "prod")).toMatchObject({ exitCode: 0 });
    const refused = {
      exitCode: 2,
      stderr: expect.stringMatching(
        /^error\[clock\] dist was signed on \S+Z, and the clock gives \S+Z\n {2}hint: Set the clock of this machine\. If it is right, the other one was ahead, so sign again: relcat sign --site prod$/,
      ),
    };
    expect(await run("publish", "prod")).toMatchObject(refused);
    expect(await runAhead(40, "publish", "prod")).toMatchObject({ exitCode: 0 });
    expect(await run("publish", "prod")).toMatchObject(refused);
    expect(await succeed("sign", "--site", "prod")).not.toContain(" 0 files written");
    await succeed("publish", "prod");
    await clientsAcceptLive();
  });

  test("during retract, keeps back neither the next retract nor a publish", async () => {
    const retract = ["--reason", "Does not start.", "--yes"];
    expect(await runAhead(40, "retract", "3", ...retract)).toMatchObject({ exitCode: 0 });
    await succeed("retract", "4", ...retract);
    const dates = readFileSync(join(folder, "releases/ledger.jsonl"), "utf8").trim().split("\n").slice(-2);
    const [ahead = "", next = ""] = dates.map((line) => JSON.parse(line).at);
    expect(Date.parse(ahead)).toBeGreaterThan(Date.now() + 39 * day);
    expect([next > ahead, Date.parse(next)]).toEqual([true, Date.parse(ahead)]);
    await succeed("build", "--released", "--site", "prod");
    await succeed("sign", "--site", "prod");
    await succeed("publish", "prod");
    await clientsAcceptLive();
  });

  test("during a publish that was killed, does not keep the site for 40 days", async () => {
    const file = join(folder, "www/current.json");
    const state = JSON.parse(readFileSync(file, "utf8"));
    const lease = (days: number) => inDays(days + 1 / 720);
    const killed = { ...state, state: "publishing", publisher: "someone@elsewhere" };
    writeFileSync(file, JSON.stringify({ ...killed, lease_until: lease(0) }));
    expect(await run("publish", "prod")).toMatchObject({ exitCode: 3 });
    writeFileSync(file, JSON.stringify({ ...killed, lease_until: lease(40) }));
    await succeed("publish", "prod");
    await clientsAcceptLive();
  });
});

describe("a clock that is behind by 20 days", () => {
  test("signs nothing and publishes nothing that was signed later", async () => {
    const before = live("metadata/timestamp.json");
    for (const args of [
      ["sign", "--site", "prod"],
      ["publish", "prod", "--refresh"],
      ["release", "prod"],
    ]) {
      const { exitCode, stderr } = await runAhead(-20, ...args);
      expect([args, exitCode, stderr]).toEqual([
        args,
        2,
        expect.stringMatching(
          /error\[clock\] the clock gives \S+Z, which is before the date of the newest timestamp\.json \(\S+Z\).*\n {2}hint: Nothing was changed\. Set the clock of this machine\./,
        ),
      ]);
    }
    expect(await runAhead(-20, "publish", "prod")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("error[clock] dist was signed on "),
    });
    expect(live("metadata/timestamp.json")).toBe(before);
    await clientsAcceptLive();
  });

  test("signs if someone states that it is right", async () => {
    const { stderr } = await runAhead(-20, "sign", "--site", "prod");
    const [, stated = ""] = / (--now \S+), then relcat publish SITE/.exec(stderr) ?? [];
    expect(await runAhead(-20, "sign", "--site", "prod", ...stated.split(" "))).toMatchObject({
      exitCode: 0,
    });
    expect(await runAhead(-20, "publish", "prod")).toMatchObject({ exitCode: 0 });
    await clientsAcceptLive(Date.now() - 20 * day);
  });
});

test("a clock that is far ahead of a signed site signs nothing", async () => {
  for (const args of [
    ["sign", "--site", "prod"],
    ["publish", "prod", "--refresh"],
  ])
    expect(await runAhead(400, ...args)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(
        /which is more than 90 days after the newest known date, that of the newest timestamp\.json/,
      ),
    });
});

test.each([[40], [-20]])(
  "a clock that differs by %i days from that of a bucket signs nothing",
  async (days) => {
    fake.clockOffset = -days * day;
    for (const args of [
      ["sign", "--site", "bucket"],
      ["publish", "bucket"],
    ])
      expect(await run(...args)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(
          /^error\[clock\] the clock gives \S+Z, and that of the storage \S+Z, expected at most 5 minutes between them\n {2}hint: Nothing was changed\. Set the clock of this machine\.$/,
        ),
      });
    fake.clockOffset = 0;
    await succeed("sign", "--site", "bucket");
  },
);
