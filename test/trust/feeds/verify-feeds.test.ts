import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import type * as openpgp from "openpgp";
import { beforeAll, describe, expect, test } from "vitest";
import { feedFaults } from "../../../pipeline/trust/feeds/verify-feeds.ts";
import { inDays } from "../../publish/support.ts";
import { feedKey, fingerprintOf } from "../../support/feed-keys.ts";
import { signedFeeds } from "../../support/signed-feeds.ts";
import { readTree } from "../../support/tree.ts";

type Key = openpgp.PrivateKey;
type Tree = Map<string, Uint8Array>;

const day = 86_400_000;
const signedAt = Date.now() - day;

let key: Key;
let stranger: Key;
/** Files of a signed site. */
let signed: Tree;
beforeAll(async () => {
  const date = new Date("2026-09-01T00:00:00Z");
  key = await feedKey({ date, keyExpirationTime: (signedAt + 100 * day - Number(date)) / 1000 });
  stranger = await feedKey({ date });
  const made = await signedFeeds([{ key, state: "signing" }]);
  await made.succeed("build", "--released");
  await made.succeed("sign", "--now", inDays(-1));
  signed = new Map([...readTree(made.dist)].filter(([path]) => /^(dists|yum|keys)\//.test(path)));
  rmSync(made.dist, { recursive: true });
});

/** Faults of a site with these files, as `path what`. */
async function faultsOf(files: Tree, now = signedAt): Promise<string[]> {
  const listed = Object.fromEntries(
    [...files].map(([path, bytes]) => [path, { sha256: createHash("sha256").update(bytes).digest("hex") }]),
  );
  const faults = await feedFaults({ listed, read: async (path) => files.get(path), now });
  // Each fault ends with what to do about it; most with the same words.
  for (const { what } of faults)
    expect(what).toMatch(/; (?:sign and publish|renew it|correct the clock|extend or replace)/);
  return faults.map(({ path, what, ended }) => {
    return `${path} ${what.replace(/; sign and publish again$/, "")}${ended ? " (ended)" : ""}`;
  });
}

const changed = (path: string, change: (text: string) => string): Tree => {
  const files = new Map(signed);
  files.set(path, Buffer.from(change(Buffer.from(files.get(path) ?? "").toString())));
  return files;
};
const without = (path: string): Tree => new Map([...signed].filter(([name]) => name !== path));

test("a site as it was signed has no faults, and half of its life later neither", async () => {
  expect([...signed.keys()].some((path) => path.endsWith("InRelease"))).toBe(true);
  expect(await faultsOf(signed)).toEqual([]);
  expect(await faultsOf(signed, signedAt + 29 * day)).toEqual([]);
});

test("a mirrorlist of an earlier version, which has only the folder, has no faults", async () => {
  const earlier = changed("yum/stable.mirrorlist", (text) => text.replace(/(?<=\n)[^\n]+\n$/, ""));
  expect(String(earlier.get("yum/stable.mirrorlist"))).toMatch(/^\S+\/yum\/[0-9a-f]{64}\/\n$/);
  expect(await faultsOf(earlier)).toEqual([]);
});

test("an index that was not renewed, and a key that ended, are named", async () => {
  const [late] = await faultsOf(signed, signedAt + 30 * day);
  expect(late).toMatch(
    /^dists\/jammy\/Release expired on \S+Z, so apt refuses it; renew it with relcat publish SITE --refresh \(ended\)$/,
  );
  const ended = await faultsOf(signed, signedAt + 101 * day);
  for (const path of [
    "dists/jammy/InRelease",
    "dists/jammy/Release.gpg",
    "yum/stable/repodata/repomd.xml.asc",
  ])
    expect(ended).toContainEqual(
      expect.stringMatching(
        new RegExp(
          `^${path} is signed by ${fingerprintOf(key)}, which expired on \\d{4}-\\d\\d-\\d\\d; extend or replace that key, then sign and publish again \\(ended\\)$`,
        ),
      ),
    );
});

const none = "has a signature that none of the certificates in keys/ made";
const certificate = () => `keys/${fingerprintOf(key)}.asc`;

describe("a fault is named:", () => {
  test.each<[string, () => Tree, () => (string | RegExp)[]]>([
    [
      "another text in InRelease",
      () => changed("dists/jammy/InRelease", (text) => text.replace("Origin: Acme", "Origin: Evil")),
      () => [
        "dists/jammy/Release differs from InRelease, expected the same text",
        `dists/jammy/InRelease ${none}`,
      ],
    ],
    [
      "text after its signature",
      () => changed("dists/jammy/InRelease", (text) => `${text}Origin: Evil\n`),
      () => ["dists/jammy/InRelease is not a clear-signed file as relcat writes it"],
    ],
    [
      "another Release",
      () => changed("dists/jammy/Release", (text) => text.replace("Suite: jammy", "Suite: noble")),
      () => [
        "dists/jammy/Release differs from InRelease, expected the same text",
        "dists/jammy/Release differs from Release.undated in more than dates",
        `dists/jammy/Release.gpg ${none}`,
      ],
    ],
    [
      "no Release.gpg",
      () => without("dists/jammy/Release.gpg"),
      () => ["dists/jammy/Release.gpg is missing from the suite"],
    ],
    [
      "no signature in it",
      () => changed("dists/jammy/Release.gpg", () => "no signature\n"),
      () => ["dists/jammy/Release.gpg has no signature"],
    ],
    [
      "another repomd.xml",
      () => changed("yum/stable/repodata/repomd.xml", (text) => text.replace("<revision>", "<revision>1")),
      () => [
        `yum/stable/repodata/repomd.xml.asc ${none}`,
        /^yum\/stable\.mirrorlist does not name yum\/[0-9a-f]{64}, the folder of this index$/,
        /^yum\/[0-9a-f]{64}\/repodata\/\S+ is not the same as yum\/stable\/repodata\//,
      ],
    ],
    [
      "no mirrorlist",
      () => without("yum/stable.mirrorlist"),
      () => ["yum/stable.mirrorlist is missing from the repository"],
    ],
    [
      "a mirrorlist of another folder",
      () => changed("yum/stable.mirrorlist", (text) => text.replace(/[0-9a-f]{64}/, "0".repeat(64))),
      () => [/^yum\/stable\.mirrorlist does not name yum\/[0-9a-f]{64}, the folder of this index$/],
    ],
    [
      "a mirrorlist that names another host",
      () => changed("yum/stable.mirrorlist", (text) => `${text}https://a.test/\n`),
      () => [/^yum\/stable\.mirrorlist does not name yum\/[0-9a-f]{64}, the folder of this index$/],
    ],
    [
      "a folder that lacks a file",
      () => new Map([...signed].filter(([path]) => !/^yum\/[0-9a-f]{64}\/repodata\/.*primary/.test(path))),
      () => [/^yum\/[0-9a-f]{64}\/repodata\/[0-9a-f]{64}-primary\.xml\.gz is not the same as yum\/stable\//],
    ],
    [
      "a certificate of someone else",
      () => changed(certificate(), () => stranger.toPublic().armor()),
      () => [
        `${certificate()} is not the certificate with this fingerprint`,
        `dists/jammy/InRelease ${none}`,
        `dists/jammy/Release.gpg ${none}`,
        `yum/stable/repodata/repomd.xml.asc ${none}`,
      ],
    ],
  ])("%s", async (_, files, faults) => {
    const found = await faultsOf(files());
    const expected = faults();
    for (const fault of expected)
      expect(found).toContainEqual(typeof fault === "string" ? fault : expect.stringMatching(fault));
    const isExpected = (text: string) =>
      expected.some((fault) => (typeof fault === "string" ? fault === text : fault.test(text)));
    expect(found.filter((text) => !isExpected(text))).toEqual([]);
  });

  test("a date in the future", async () => {
    expect(await faultsOf(signed, signedAt - day)).toContainEqual(
      expect.stringMatching(
        /^dists\/jammy\/Release is dated \S+Z, which is in the future; correct the clock of the machine that signs, or of this one$/,
      ),
    );
  });
});
