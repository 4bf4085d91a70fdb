/** @module-tag long */
import { cpSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as openpgp from "openpgp";
import { beforeAll, describe, expect, test } from "vitest";
import { inDays } from "../../publish/support.ts";
import {
  feedKey,
  feedSecrets,
  fingerprintOf,
  type ListedKey,
  writeFeedKeys,
} from "../../support/feed-keys.ts";
import { relcat } from "../../support/run.ts";
import { signedFeeds } from "../../support/signed-feeds.ts";
import { readTree } from "../../support/tree.ts";

type Key = openpgp.PrivateKey;

const at = ["--now", inDays(-1)];

let first: Key;
let second: Key;
beforeAll(async () => {
  first = await feedKey({ date: new Date("2026-09-01T00:00:00Z") });
  second = await feedKey({ date: new Date("2026-09-01T00:00:00Z") });
});

/** Fingerprints of the keys that signed an InRelease file, each verified. */
async function signersOf(inRelease: string, ...keys: Key[]): Promise<string[]> {
  const { signatures } = await openpgp.verify({
    message: await openpgp.readCleartextMessage({ cleartextMessage: inRelease }),
    verificationKeys: keys.map((key) => key.toPublic()),
    date: new Date("2030-01-01"),
  });
  await Promise.all(signatures.map(({ verified }) => verified));
  return signatures.flatMap(({ keyID }) => {
    const key = keys.find((each) => each.getKeyID().equals(keyID));
    return key ? [fingerprintOf(key)] : [];
  });
}

const feedFiles = (folder: string) =>
  [...readTree(folder)].filter(([path]) => /^(dists|yum|keys)\//.test(path));

const inRelease = "dists/jammy/InRelease";

const usual = (): ListedKey[] => [{ key: first, state: "signing" }];

describe("a signed site with package repositories", () => {
  test("is expired for verify after the end of an apt index", async () => {
    const made = await signedFeeds(usual(), {
      feeds: { apt: { suites: { jammy: "22.04" }, valid_days: 1 } },
    });
    await made.succeed("build", "--released");
    await made.succeed("sign", ...at);
    const { exitCode, stdout, stderr } = await made.run("verify", "dist");
    expect([exitCode, stdout]).toEqual([
      7,
      expect.stringContaining("1 index of its package repositories expired"),
    ]);
    expect(stderr).toMatch(/dists\/jammy\/Release expired on .+, so apt refuses it/);
    expect(stderr).toContain("Next: renew the signatures: relcat publish SITE --refresh");
  });

  test("has the same bytes on every machine, and is what verify expects", async () => {
    const made = await signedFeeds(usual());
    await made.succeed("build", "--released");
    await made.succeed("sign", ...at);
    const before = readTree(made.dist);
    expect(await made.succeed("sign", ...at)).toContain("0 files written");
    rmSync(made.dist, { recursive: true });
    await made.succeed("build", "--released");
    await made.succeed("sign", ...at);
    expect([...readTree(made.dist)]).toEqual([...before]);

    await made.succeed("build", "--released", "--check-out");
    await made.succeed("build", "--released");
    expect([...readTree(made.dist)]).toEqual([...before]);
    const added = [...before.keys()].filter((path) => /^(dists|yum)\//.test(path));
    expect(added.map((path) => path.replace(/[0-9a-f]{64}/, "SHA256"))).toEqual(
      expect.arrayContaining([
        "dists/jammy/InRelease",
        "dists/jammy/Release",
        "dists/jammy/Release.gpg",
        "dists/jammy/Release.undated",
        "yum/SHA256/repodata/repomd.xml",
        "yum/SHA256/repodata/repomd.xml.asc",
        "yum/stable.mirrorlist",
        "yum/stable/repodata/repomd.xml.asc",
      ]),
    );
    const lists = [...before].filter(([path]) => /^targets\/.*\.files\.json$/.test(path));
    const listed = lists.flatMap(([, bytes]) => Object.keys(JSON.parse(String(bytes)).files));
    expect(listed.filter((path) => added.includes(path)).sort()).toEqual(added.sort());
    expect(await made.succeed("verify", "dist")).toContain("Verified dist");
  });

  test("is published; a refresh renews InRelease and leaves the yum folder; a rollback signs the earlier index", async () => {
    const apt = { suites: { jammy: "22.04" }, valid_days: 8 };
    const made = await signedFeeds(usual(), { feeds: { apt, yum: {} } });
    const publish = async (...signing: string[]) => {
      await made.succeed("build", "--released", "--site", "prod");
      await made.succeed("sign", "--site", "prod", ...signing);
      made.artifacts();
      await made.succeed("publish", "prod");
    };
    await publish("--now", inDays(-5));
    const [before, mirrorlist] = [made.live(inRelease), made.live("yum/stable.mirrorlist")];
    const { sites } = JSON.parse((await made.run("status", "--json")).stdout);
    expect(sites[0].ends).toContainEqual(expect.objectContaining({ role: inRelease, days: 2, state: "due" }));
    expect(mirrorlist).toMatch(/^(https:\/\/downloads\.example\.com\/)yum\/[0-9a-f]{64}\/\n\1\n$/);
    await made.succeed("publish", "prod", "--refresh");
    const after = made.live(inRelease);
    expect(after).not.toBe(before);
    expect(made.live("yum/stable.mirrorlist")).toBe(mirrorlist);
    expect(await made.succeed("publish", "prod", "--refresh")).toContain("nothing to do");

    const catalog = JSON.parse(made.read("releases/catalog.yaml"));
    const suites = { jammy: "22.04", noble: "24.04" };
    made.write("releases/catalog.yaml", { ...catalog, feeds: { apt: { ...apt, suites }, yum: {} } });
    await publish();
    expect(made.live(inRelease)).toBe(after);
    expect(await signersOf(made.live("dists/noble/InRelease"), first)).toEqual([fingerprintOf(first)]);
    await made.succeed("rollback", "prod", "--reason", "Wrong suite.", "--yes");
    expect(made.live(inRelease)).toBe(after);
    expect(existsSync(join(made.www, "current/dists/noble/InRelease"))).toBe(false);
    expect(await made.succeed("verify", "www/current")).toContain("Verified www/current");
  });

  test("is not published after its dates have ended", async () => {
    const made = await signedFeeds(usual(), {
      feeds: { apt: { suites: { jammy: "22.04" }, valid_days: 1 } },
    });
    await made.succeed("build", "--released", "--site", "prod");
    const signed = await made.succeed("sign", "--site", "prod", "--now", inDays(-2));
    expect(signed).toContain(`Signatures are valid until ${inDays(-1).slice(0, 10)}`);
    made.artifacts();
    const { exitCode, stderr } = await made.run("publish", "prod");
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/error\[build-unsigned\] dist has expired: its dists\/jammy\/Release ended on/),
    ]);
  });
});

describe("while keys are rotated", () => {
  test("a client that knows only the old key finds a signature of it until it is retired", async () => {
    const made = await signedFeeds(usual());
    const states: [ListedKey["state"], ListedKey["state"] | undefined, Key[]][] = [
      ["signing", undefined, [first]],
      ["signing", "announced", [first]],
      ["signing", "signing", [first, second]],
      ["retired", "signing", [second]],
    ];
    const sources = new Set<string>();
    for (const [old, next, signing] of states) {
      writeFeedKeys(made.folder, [
        { key: first, state: old },
        ...(next ? [{ key: second, state: next }] : []),
      ]);
      await made.succeed("build", "--released");
      const env = { ...made.env, ...feedSecrets(first, ...(next ? [second] : [])) };
      const { exitCode, stderr } = await relcat(made.folder, ["sign", ...at], { env });
      expect(exitCode, stderr).toBe(0);
      expect(await signersOf(made.read(`dist/${inRelease}`), ...signing)).toEqual(signing.map(fingerprintOf));
      sources.add(made.read("dist/acme-jammy.sources"));
      expect(await made.succeed("verify", "dist")).toContain("Verified dist");
    }
    // Announced and signing keys are offered alike.
    expect(sources.size).toBe(3);
  });

  test("the wrong private key signs nothing", async () => {
    const made = await signedFeeds(usual());
    await made.succeed("build", "--released");
    const before = feedFiles(made.dist);
    const env = { ...made.env, ...feedSecrets(second) };
    const { exitCode, stderr } = await relcat(made.folder, ["sign", ...at], { env });
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining(
        `error[key-untrusted] RELCAT_OPENPGP_KEY has the OpenPGP key ${fingerprintOf(second)}, which releases/trust/openpgp does not list`,
      ),
    ]);
    expect(feedFiles(made.dist)).toEqual(before);
  });

  test("a build of an earlier commit does not bring a retired key back", async () => {
    const made = await signedFeeds(usual());
    await made.git("init", "-q");
    await made.git("add", "releases");
    await made.git("commit", "-qm", "One key");
    const commit = (await made.git("rev-parse", "HEAD")).trim();
    writeFeedKeys(made.folder, [
      { key: first, state: "retired" },
      { key: second, state: "signing" },
    ]);
    await made.succeed("build", "--released", "--at", commit);
    expect(made.list("dist/keys")).toEqual([`${fingerprintOf(second)}.asc`, "acme.asc"].sort());
  });
});

describe("a site that settles needs a key for its repositories", () => {
  const unsigned = expect.stringMatching(
    /error\[feed-unsigned\] the build has a package repository without a signature: .*\n {2}hint: Create a key with relcat trust init/,
  );

  test("sign refuses a build that was made without one", async () => {
    const made = await signedFeeds([]);
    await made.succeed("build", "--released");
    expect(made.read("dist/acme-jammy.sources")).toContain("Trusted: yes");
    const { exitCode, stderr } = await made.run("sign", ...at);
    expect([exitCode, stderr]).toEqual([1, unsigned]);
  });

  test("publish refuses one where nothing is signed; a staging site takes it, and what is provisional", async () => {
    const made = await signedFeeds(usual(), { trust: "none" });
    await made.succeed("build", "--released", "--site", "prod");
    made.artifacts();
    const { exitCode, stderr } = await made.run("publish", "prod");
    expect([exitCode, stderr]).toEqual([1, unsigned]);
    cpSync(join(made.www, "files"), join(made.folder, "staging/files"), { recursive: true });
    await made.succeed("publish", "staging");
    expect(existsSync(join(made.folder, "staging/current/dists/jammy/Release"))).toBe(true);
  });

  test("a provisional build is complete without signatures", async () => {
    const made = await signedFeeds(usual());
    made.write("releases/26.10.001/release.yaml", { version: "26.10.001", date: "2026-10-01" });
    const manifest = {
      release: "26.10.001",
      artifacts: [{ name: "a.rpm", package_type: "rpm", sha256: "9".repeat(64) }],
    };
    made.write("releases/26.10.001/manifests/all.json", manifest);
    await made.succeed("build");
    expect(made.read("dist/acme-jammy.sources")).toContain("Trusted: yes");
    expect(made.read("dist/acme-stable.repo")).toContain("repo_gpgcheck=0");
    expect(made.list("dist/dists/jammy")).not.toContain("InRelease");
    expect(made.list("dist/dists/jammy")).toContain("Release");
    const folder = /yum\/[0-9a-f]{64}\/$/m.exec(made.read("dist/yum/stable.mirrorlist"))?.[0];
    expect(existsSync(join(made.dist, `${folder}repodata/repomd.xml`))).toBe(true);
  });
});
