import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RelcatError, type SignDelivery, verifySite } from "../../pipeline/index.ts";
import { openSettings } from "../../pipeline/project/settings.ts";
import { refreshSite } from "../../pipeline/publish/refresh.ts";
import { sha256 } from "../../pipeline/trust/metadata.ts";
import { signProved } from "../../pipeline/trust/sign-site.ts";
import { clientsAccept } from "../publish/clients-accept.ts";
import { isNightly, often } from "../support/effort.ts";
import { feedKey } from "../support/feed-keys.ts";
import { note, project, release } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";
import { signedFeeds } from "../support/signed-feeds.ts";
import { differences, readTree } from "../support/tree.ts";
import { inTime, serveFiles, start as signedAt, signedProject, tufClient } from "../trust/support.ts";

const hour = 3_600_000;
const day = 24 * hour;
const year = 365 * day;
const security = { id: "ACME-2026-001", cve: ["CVE-2026-12345"], severity: "high" };

/** The day on which the dates change, and the one before it, of every second month: .ci/nightly takes all 730 days. */
const isTurningPoint = (date: Date): boolean =>
  [0, day].some((later) => {
    const each = new Date(date.getTime() + later);
    return each.getUTCDate() === 1 && each.getUTCMonth() % 2 === 0;
  });

const versions = ["26.08.001", "26.08.002"];
const file = (version: string) => ({
  ...{ name: `tool-${version}.rpm`, package_type: "rpm", size: version.length },
  sha256: hash("sha256", version),
});

test("a site that is published once and refreshed for two years is valid all the time, and only signatures and dates change", async () => {
  const start = Date.now();
  const made = project({
    "releases/catalog.yaml": {
      ...{ product: "Acme", base_url: "https://downloads.acme.example", require: {}, trust: "simple" },
      sites: { test: { url: "dir:www", settles: false } },
      security: { contact: ["mailto:security@acme.example"] },
      lines: { default: { security_until: "12 months", until: "18 months" } },
    },
    ...Object.assign({}, ...versions.map((version) => release(version, [file(version)]))),
    ...Object.fromEntries(versions.map((version) => [`www/files/${version}/${file(version).name}`, version])),
    "releases/26.08.002/notes/fix.yaml": note("Fixed.", { security }),
  });
  const keys = join(temporaryFolder(), "keys");
  await made.succeed("trust", "init", keys);
  await made.succeed("cut", "--all");
  const env = { RELCAT_ONLINE_KEY: readFileSync(join(keys, "online.pem"), "utf8") };
  for (const args of [
    ["build", "--released", "--site", "test"],
    ["sign", "--site", "test"],
    ["publish", "test"],
  ])
    expect(await relcat(made.folder, args, { env })).toMatchObject({
      exitCode: 0,
      stderr: expect.not.stringContaining("error"),
    });
  const [releases, live, state] = [
    join(made.folder, "releases"),
    join(made.folder, "www/current"),
    temporaryFolder(),
  ];
  const root = readFileSync(join(releases, "trust/1.root.json"));
  const content = () =>
    new Map([...readTree(live)].filter(([path]) => !/^metadata\/|^targets\/|security\.txt$/.test(path)));
  const before = content();
  expect([...before.keys()]).toEqual(
    expect.arrayContaining([
      "api/v1/lines.json",
      "csaf/acme-2026-001.json",
      "index.html",
      "releases/26.08.001/index.html",
    ]),
  );
  const context = { pid: process.pid, onWait: () => {} };
  const ends = new Set<string>();
  for (let days = 1; days <= 730; days++) {
    const now = start + days * day;
    // The holder of the offline keys renews root and targets twice a year.
    if (days % 182 === 0)
      await made.succeed("trust", "sign", "--keys", keys, "--now", new Date(now).toISOString());
    if (!isNightly && !isTurningPoint(new Date(now))) continue;
    const { verdict, findings } = await inTime(now, async () => {
      const settings = await openSettings(releases);
      await refreshSite(settings, "test", { environment: env, now: () => now }, context);
      return verifySite({ place: live, root, state, now });
    });
    expect([days, verdict, findings]).toEqual([days, "ok", []]);
    const end =
      /^Expires: (.*)$/m.exec(readFileSync(join(live, ".well-known/security.txt"), "utf8"))?.[1] ?? "";
    ends.add(end);
    expect([days, Date.parse(end) > now, Date.parse(end) < now + year]).toEqual([days, true, true]);
  }
  expect(ends.size).toBeGreaterThan(often(22, 10));
  expect(differences(before, content())).toEqual([]);
});

test("a year without a release, renewed each day, is valid on every day of it, for old clients and new ones", async () => {
  const project = await signedProject();
  const root = join(project.folder, "releases/trust/1.root.json");
  await project.sign();
  const url = await serveFiles(project.dist);
  let state: string | undefined;
  for (const days of [1, 3, 4, 7, 8, 14, 15, 29, 30, 60, 89, 90, 120, 180, 240, 300, 360]) {
    const now = signedAt + days * day;
    await project.sign("--now", new Date(now).toISOString());
    await inTime(now, async () => {
      const old = tufClient(url, root, state);
      state = old.state;
      expect(await old.client.getTargetInfo("catalog/index.json"), `day ${days}`).toBeDefined();
      expect(
        await tufClient(url, root).client.getTargetInfo("releases/26.05.001/release.json"),
      ).toBeDefined();
    });
  }
  // Metadata expires without renewal.
  await inTime(signedAt + 380 * day, async () => {
    await expect(tufClient(url, root).client.refresh()).rejects.toThrow(/expired/i);
  });
});

/** Days by which the clock is wrong, one after the other in a year, or by day in half of it: ahead and behind. */
const wrong = often(
  [40, -20, 1, -1, 0.1, -0.1, 80, -45, 400, -400, 7, -3, 14, -60, -200, 200],
  [40, -20, 0.1, 80, -45, 400, -3, -200],
);

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

test("in months of renewals with a clock that is often wrong, clients accept the site on the days that matter", async () => {
  const key = await feedKey({ date: new Date("2026-09-01T00:00:00Z") });
  const { folder, env, succeed } = await signedFeeds([{ key, state: "signing" }], {
    trust: { profile: "simple", valid_days: 7 },
    sites: { prod: { url: "dir:www" } },
  });
  await succeed("build", "--released", "--site", "prod");
  const dist = join(folder, "dist");
  const url = await serveFiles(dist);
  const root = join(folder, "releases/trust/1.root.json");
  const build = sha256(readFileSync(join(dist, "build.json")));
  /** Signs as each command does. */
  const signAt = (now: number): Promise<SignDelivery> =>
    inTime(now, async () => {
      const settings = await openSettings(join(folder, "releases"));
      const surroundings = { pid: process.pid, onWait: () => {} };
      return signProved(settings, dist, build, { environment: env, now }, surroundings);
    });
  const [relcatState, tufState] = [temporaryFolder(), temporaryFolder()];
  const accept = async (now: number) => {
    await clientsAccept(dist, folder, now, relcatState);
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
