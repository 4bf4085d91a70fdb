/** @module-tag long */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSignature } from "openpgp";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { RelcatError, type SignDelivery, verifySite } from "../../pipeline/index.ts";
import { openSettings } from "../../pipeline/project/settings.ts";
import { sha256 } from "../../pipeline/trust/metadata.ts";
import { signProved } from "../../pipeline/trust/sign-site.ts";
import { afterFile } from "../support/after-file.ts";
import { often } from "../support/effort.ts";
import { feedKey } from "../support/feed-keys.ts";
import { copying } from "../support/project.ts";
import { lastingFolder, relcat, temporaryFolder } from "../support/run.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { signedFeeds } from "../support/signed-feeds.ts";
import { inTime, serveFiles, tufClient } from "../trust/support.ts";
import { inDays } from "./support.ts";

const hour = 3_600_000;
const day = 24 * hour;

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

/** Fails unless clients with a right clock accept the site. */
async function clientsAccept(
  now = Date.now(),
  state = temporaryFolder(),
  place = join(folder, "www/current"),
): Promise<void> {
  const read = (path: string) => readFileSync(join(place, path), "utf8");
  const root = readFileSync(join(folder, "releases/trust/1.root.json"));
  const { verdict, findings } = await inTime(now, () => verifySite({ place, root, state, now }));
  const what = new Date(now).toISOString();
  expect([what, verdict, findings]).toEqual([what, "ok", []]);
  // apt refuses a date that is more than ten seconds ahead.
  const text = read("dists/jammy/InRelease");
  const dateOf = (field: string) => Date.parse(new RegExp(`^${field}: (.*)$`, "m").exec(text)?.[1] ?? "");
  expect([what, dateOf("Date") <= now, dateOf("Valid-Until") > now]).toEqual([what, true, true]);
  const armoredSignature = read("yum/stable/repodata/repomd.xml.asc");
  const { packets } = await readSignature({ armoredSignature });
  for (const { created } of packets) expect(Number(created)).toBeLessThanOrEqual(now);
}

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
    await clientsAccept();
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
    await clientsAccept();
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
    await clientsAccept();
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
    await clientsAccept();
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
    await clientsAccept();
  });

  test("signs if someone states that it is right", async () => {
    const { stderr } = await runAhead(-20, "sign", "--site", "prod");
    const [, stated = ""] = / (--now \S+), then relcat publish SITE/.exec(stderr) ?? [];
    expect(await runAhead(-20, "sign", "--site", "prod", ...stated.split(" "))).toMatchObject({
      exitCode: 0,
    });
    expect(await runAhead(-20, "publish", "prod")).toMatchObject({ exitCode: 0 });
    await clientsAccept(Date.now() - 20 * day);
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

/** Days by which the clock is wrong, one after the other in a year, or by day in half of it: ahead and behind. */
const wrong = often(
  [40, -20, 1, -1, 0.1, -0.1, 80, -45, 400, -400, 7, -3, 14, -60, -200, 200],
  [40, -20, 0.1, 80, -45, 400, -3, -200],
);

/** Signs as each command does. */
async function signAt(now: number): Promise<SignDelivery> {
  const [releases, dist] = [join(folder, "releases"), join(folder, "dist")];
  const build = sha256(readFileSync(join(dist, "build.json")));
  const signing = { environment: env, now };
  return inTime(now, async () =>
    signProved(await openSettings(releases), dist, build, signing, { pid: process.pid, onWait: () => {} }),
  );
}

const hasSigned = ({ written }: SignDelivery) => written > 0;
const isRefused = (error: unknown) => {
  if (error instanceof RelcatError && error.code === "clock") return false;
  throw error;
};

/** Days from one wrong clock to the next. */
const period = 22.5;
/**
 * Days after a wrong clock on which a right one signs. Between two of them, at most 6.5 of the 7 days of a timestamp
 * pass. Other signatures have longer lives, so some are kept and others are renewed.
 */
const renewals = [0, 1, 4, 10, 16];

test("in months of renewals with a clock that is often wrong, clients accept the site on the days that matter", {
  tags: ["long"],
}, async () => {
  const dist = join(folder, "dist");
  const url = await serveFiles(dist);
  const root = join(folder, "releases/trust/1.root.json");
  const [relcatState, tufState] = [temporaryFolder(), temporaryFolder()];
  const accept = async (now: number) => {
    await clientsAccept(now, relcatState, dist);
    await inTime(now, () => tufClient(url, root, tufState).client.refresh());
  };
  const start = Date.now();
  await signAt(start);
  const signed = new Set<number>();
  for (const [index, by] of wrong.entries()) {
    const moved = start + (index + 0.25) * period * day;
    // The signatures are at their oldest.
    await accept(moved - hour);
    if (await signAt(moved + by * day - hour).then(hasSigned, isRefused)) signed.add(by);
    // A clock that is behind leaves a site that clients accept.
    if (by < 0) await accept(moved);
    for (const days of renewals) {
      await signAt(moved + days * day);
      if (days <= 1) await accept(moved + days * day);
    }
  }
  expect([...signed].filter((by) => by < -30 || by > 90)).toEqual([]);
  expect([...signed]).toEqual(expect.arrayContaining([40, 80]));
});
