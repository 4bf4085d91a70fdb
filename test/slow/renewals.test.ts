import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifySite } from "../../pipeline/index.ts";
import { openSettings } from "../../pipeline/project/settings.ts";
import { refreshSite } from "../../pipeline/publish/refresh.ts";
import { isNightly, often } from "../support/effort.ts";
import { note, project, release } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";
import { differences, readTree } from "../support/tree.ts";
import { inTime, serveFiles, start as signedAt, signedProject, tufClient } from "../trust/support.ts";

const day = 86_400_000;
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
