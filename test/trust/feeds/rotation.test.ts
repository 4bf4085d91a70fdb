import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as openpgp from "openpgp";
import { beforeAll, describe, expect, test } from "vitest";
import { feedKey, fingerprintOf } from "../../support/feed-keys.ts";
import { type Project, project } from "../../support/project.ts";
import { temporaryFolder } from "../../support/run.ts";

type Key = openpgp.PrivateKey;

const files = { "releases/catalog.yaml": { product: "Acme", base_url: "https://downloads.example.com" } };
const now = (day: number) => ["--now", `2026-10-0${day}T08:00:00Z`];
const step = (name: string) => ["trust", "rotate", "openpgp", "--step", name];

const listed = (at: Project) => JSON.parse(at.read("releases/trust/openpgp/keys.json")).keys;

let first: Key;
let second: Key;
beforeAll(async () => {
  const date = new Date("2026-09-01T00:00:00Z");
  first = await feedKey({ date });
  second = await feedKey({ date });
});

/** The certificate of a key in a file, as a program exports it. */
function certificateFile(key: Key): string {
  const file = join(temporaryFolder(), "certificate.asc");
  writeFileSync(file, key.toPublic().armor());
  return file;
}

async function withKey(): Promise<Project> {
  const at = project(files);
  await at.succeed("trust", "init", "--openpgp", "--certificate", certificateFile(first), ...now(1));
  return at;
}

test("trust init --openpgp makes an RSA key of 4096 bits, which only its owner can read", async () => {
  const at = project(files);
  const keys = join(temporaryFolder(), "keys");
  const { stdout, stderr } = await at.succeed("trust", "init", keys, "--openpgp", ...now(1));
  const file = join(keys, "openpgp.asc");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const key = await openpgp.readPrivateKey({ armoredKey: readFileSync(file, "utf8") });
  expect(key.getAlgorithmInfo()).toMatchObject({ algorithm: "rsaEncryptSign", bits: 4096 });
  expect(key.getUserIDs()).toEqual(["Acme package repository <releases@downloads.example.com>"]);
  expect(key.subkeys).toEqual([]);
  expect(key.getCreationTime().toISOString()).toBe("2026-10-01T08:00:00.000Z");
  const fingerprint = fingerprintOf(key);
  expect(listed(at)).toEqual([{ fingerprint, state: "signing", since: "2026-10-01T08:00:00Z" }]);
  const certificate = at.read(`releases/trust/openpgp/${fingerprint}.asc`);
  expect((await openpgp.readKey({ armoredKey: certificate })).isPrivate()).toBe(false);
  expect(stdout).toBe(
    `Created ${file}; wrote releases/trust/openpgp/${fingerprint}.asc and releases/trust/openpgp/keys.json. ${fingerprint} signs package repositories.`,
  );
  expect(stderr).toContain(`export RELCAT_OPENPGP_KEY="$(cat ${file})"`);
  expect(existsSync(join(at.folder, "releases/trust/1.root.json"))).toBe(false);
  await at.succeed("check");

  const again = await at.run("trust", "init", keys, "--openpgp");
  expect([again.exitCode, again.stderr]).toEqual([
    2,
    expect.stringMatching(
      /^error\[trust-exists\] releases\/trust\/openpgp already has a key\n {2}hint: .*--step announce/,
    ),
  ]);
});

describe("a rotation", () => {
  test("announces the next key, lets both sign, and retires the old one", async () => {
    const at = await withKey();
    const [old, next] = [first, second].map(fingerprintOf);
    const since = (day: number) => `2026-10-0${day}T08:00:00Z`;
    const announced = await at.succeed(
      ...step("announce"),
      "--certificate",
      certificateFile(second),
      ...now(2),
    );
    expect(announced.stdout).toContain(`${next} is announced, and signs nothing yet.`);
    expect(listed(at)).toEqual([
      { fingerprint: old, state: "signing", since: since(1) },
      { fingerprint: next, state: "announced", since: since(2) },
    ]);
    expect((await at.succeed("status")).stdout).toContain(
      `the OpenPGP key ${old} has been signing since 2026-10-01\nthe OpenPGP key ${next} has been announced since 2026-10-02\n`,
    );
    const both = await at.succeed(...step("sign"), ...now(3));
    expect(both.stderr).toContain("both keys sign: relcat sign needs both private keys");
    expect(listed(at)[1]).toEqual({ fingerprint: next, state: "signing", since: since(3) });
    await at.succeed(...step("retire"), ...now(4));
    expect(listed(at)).toEqual([
      { fingerprint: old, state: "retired", since: since(4) },
      { fingerprint: next, state: "signing", since: since(3) },
    ]);
    await at.succeed("check");
  });

  test.each<[string, string[], (at: Project) => Promise<unknown>, string]>([
    [
      "a second announcement",
      [...step("announce"), "--certificate"],
      async () => {},
      "has been announced since 2026-10-02",
    ],
    ["retiring the only key that signs", step("retire"), async () => {}, "signs, and none would be left"],
    [
      "letting sign what is not announced",
      step("sign"),
      (at) => at.succeed(...step("sign"), ...now(3)),
      "no OpenPGP key is announced",
    ],
  ])("refuses %s", async (_, args, before, message) => {
    const at = await withKey();
    await at.succeed(...step("announce"), "--certificate", certificateFile(second), ...now(2));
    await before(at);
    const third = args.at(-1) === "--certificate" ? [certificateFile(first)] : [];
    const state = at.read("releases/trust/openpgp/keys.json");
    const { exitCode, stderr } = await at.run(...args, ...third);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(at.read("releases/trust/openpgp/keys.json")).toBe(state);
  });

  test("begins with a key", async () => {
    const at = project(files);
    const { exitCode, stderr } = await at.run(...step("announce"), "--certificate", certificateFile(first));
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining("error[trust-missing] there is no OpenPGP key"),
    ]);
  });
});

test("status says that repositories have no key, and when a key ends", async () => {
  const at = project({ "releases/catalog.yaml": { ...files["releases/catalog.yaml"], feeds: { apt: {} } } });
  const missing = "no OpenPGP key signs the apt and yum repositories: relcat trust init KEYS --openpgp";
  expect((await at.succeed("status")).stdout).toContain(missing);
  const ending = await feedKey({ date: new Date("2026-09-01T00:00:00Z"), keyExpirationTime: 86_400 * 365 });
  const args = ["--openpgp", "--certificate", certificateFile(ending)];
  await at.succeed("trust", "init", ...args, ...now(1));
  const { stdout } = await at.succeed("status");
  expect(stdout).toContain("has been signing since 2026-10-01, and is valid until 2027-09-01\n");
  expect(stdout).not.toContain(missing);
  const { document } = await at.json("status");
  expect(document.openpgp).toEqual([
    {
      fingerprint: fingerprintOf(ending),
      state: "signing",
      since: "2026-10-01T08:00:00Z",
      ends: "2027-09-01T00:00:00Z",
    },
  ]);
});

test.each<[string, string[], string]>([
  ["no step", ["trust", "rotate", "openpgp"], "is rotated in three steps, and --step is missing"],
  [
    "no key",
    ["trust", "rotate", "openpgp", "--step", "announce"],
    "neither a folder for the private key nor",
  ],
  ["no folder", ["trust", "init"], "the folder of the private keys is missing"],
  ["no folder of a role", ["trust", "rotate", "online"], "the folder of the private keys is missing"],
  [
    "two sources",
    ["trust", "init", "keys", "--openpgp", "--certificate", "x.asc"],
    "a folder for a new private key and the certificate of an existing key are given",
  ],
])("%s is said", async (_, args, message) => {
  const { exitCode, stderr } = await project(files).run(...args);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test.each<[string, (file: string) => Promise<void> | void, RegExp]>([
  ["a private key", (file) => writeFileSync(file, first.armor()), /is not a certificate, expected one block/],
  ["no certificate", (file) => writeFileSync(file, "x"), /is not a certificate, expected one block/],
  [
    "a key that ends soon",
    async (file) => {
      const key = await feedKey({ date: new Date("2026-09-01T00:00:00Z"), keyExpirationTime: 86_400 * 60 });
      writeFileSync(file, key.toPublic().armor());
    },
    /ends on 2026-10-31, expected at least 90 days from now/,
  ],
])("the certificate of %s is not taken over", async (_, write, message) => {
  const at = project(files);
  const file = join(temporaryFolder(), "certificate.asc");
  await write(file);
  const { exitCode, stderr } = await at.run("trust", "init", "--openpgp", "--certificate", file, ...now(1));
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(message)]);
  expect(existsSync(join(at.folder, "releases/trust"))).toBe(false);
});
