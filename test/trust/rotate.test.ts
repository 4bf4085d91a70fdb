/** @module-tag long */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { artifact, project, release } from "../support/project.ts";
import { copyProject, relcat, temporaryFolder } from "../support/run.ts";
import {
  inTime,
  onlineKey,
  type SignedProject,
  serveFiles,
  signedProject,
  start,
  tufClient,
} from "./support.ts";

const day = 24 * 3_600_000;
const on = (days: number) => ["--now", new Date(start + days * day).toISOString()];

async function done(project: SignedProject, args: string[], env = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await project.relcat(args, env);
  expect(exitCode, stderr).toBe(0);
  return stdout + stderr;
}

/** Result for a client with a pinned first root, or with earlier state. */
async function look(project: SignedProject, url: string, days: number, state?: string): Promise<string> {
  return inTime(start + days * day, async () => {
    const { client, state: kept } = tufClient(url, join(project.folder, "releases/trust/1.root.json"), state);
    expect(await client.getTargetInfo("releases/26.08.001/release.json")).toBeDefined();
    return kept;
  });
}

/** Folders with one key each: three of root, and that of targets. */
const holders = ({ keys }: SignedProject) =>
  ["root-1.pem", "root-2.pem", "root-3.pem", "targets.pem"].map((name) => {
    const folder = join(temporaryFolder(), "keys");
    mkdirSync(folder);
    copyFileSync(join(keys, name), join(folder, name));
    return folder;
  }) as [string, string, string, string];

const trustFile = ({ folder }: SignedProject, name: string) => join(folder, "releases/trust", name);

describe("keys are rotated", () => {
  test("in turn without an effect on clients", async () => {
    const project = await signedProject();
    await project.sign();
    const url = await serveFiles(project.dist);
    let state = await look(project, url, 0);
    let days = 1;
    for (const role of ["online", "targets", "root"]) {
      const said = await done(project, ["trust", "rotate", role, "--keys", project.keys, ...on(days)]);
      expect(said).toContain(`${role}-v${days + 1}.pem`);
      const key = existsSync(join(project.keys, "online-v2.pem")) ? "online-v2.pem" : "online.pem";
      await done(project, ["sign", ...on(days)], onlineKey(project.keys, key));
      state = await look(project, url, days, state);
      await look(project, url, days);
      days++;
    }
    expect(
      readdirSync(join(project.dist, "metadata")).filter((name) => name.endsWith("root.json")),
    ).toHaveLength(4);
    const old = await project.relcat(["sign", ...on(days)], onlineKey(project.keys, "online.pem"));
    expect([old.exitCode, old.stderr]).toEqual([
      2,
      expect.stringMatching(
        /^error\[key-untrusted\] the online key [0-9a-f]{16}… is not the one that releases\/trust names\n {2}hint: Sign with the private half of the key that is named\. Was the key rotated\? Then RELCAT_ONLINE_KEY still has the old one: give it the newest online-\*\.pem of the keys folder\.$/,
      ),
    ]);
  });

  test("by two of three root keys, in turn, on different machines", async () => {
    const project = await signedProject("full");
    await project.sign();
    const url = await serveFiles(project.dist);
    const state = await look(project, url, 0);
    const [first, second, , third] = holders(project);
    const waiting = await done(project, ["trust", "rotate", "online", "--keys", first, ...on(1)]);
    expect(waiting).toContain(
      "1 root key more must sign: hand releases/trust/root.pending.json to their holders.",
    );
    expect(existsSync(join(project.folder, "releases/trust/2.root.json"))).toBe(false);
    expect(await done(project, ["trust", "list"])).toContain(
      "root.pending.json, version 2, waits for signatures",
    );
    expect(await done(project, ["trust", "sign", "--keys", first, ...on(1)])).toContain(
      "1 root key more must sign",
    );
    expect(await done(project, ["trust", "sign", "--keys", second, ...on(1)])).toContain(
      "by the holder of the targets key",
    );
    expect(existsSync(join(project.folder, "releases/trust/root.pending.json"))).toBe(false);
    const early = await project.relcat(["sign", ...on(1)], onlineKey(first, "online-v2.pem"));
    expect(early.stderr).toContain("error[key-untrusted]");
    await done(project, ["trust", "sign", "--keys", third, ...on(1)]);
    await done(project, ["sign", ...on(1)], onlineKey(first, "online-v2.pem"));
    await look(project, url, 1, state);
  });

  test("after a mistake in the folder of the keys was repaired", async () => {
    const project = await signedProject();
    const rotate = ["trust", "rotate", "online", "--keys", project.keys];
    const names = readdirSync(project.keys);
    chmodSync(join(project.keys, "targets.pem"), 0o644);
    expect(await project.relcat(rotate)).toMatchObject({ exitCode: 2 });
    expect(readdirSync(project.keys)).toEqual(names);
    chmodSync(join(project.keys, "targets.pem"), 0o600);
    await done(project, rotate);
    expect(existsSync(join(project.keys, "online-v2.pem"))).toBe(true);
  });

  test("with --replace if there are several root keys", async () => {
    const project = await signedProject("full");
    const which = await project.relcat(["trust", "rotate", "root", "--keys", project.keys]);
    expect([which.exitCode, which.stderr]).toEqual([
      2,
      expect.stringMatching(/there are 3 root keys[\s\S]*--replace: \w{16}, \w{16}, \w{16}/),
    ]);
    const [id = ""] = /\w{16}/.exec(which.stderr.slice(which.stderr.indexOf("--replace"))) ?? [];
    await done(project, ["trust", "rotate", "root", "--replace", id, "--keys", project.keys]);
    expect(await done(project, ["trust", "list"])).not.toContain(id);
    const gone = await project.relcat(["trust", "rotate", "root", "--replace", id, "--keys", project.keys]);
    expect(gone.stderr).toContain(`0 root keys begin with ${id}`);
  });
});

describe("a root that waits for signatures", () => {
  test("is refused if its version is complete, because an old branch brought it back", async () => {
    const project = await signedProject("full");
    const [first, second, third] = holders(project);
    const waiting = trustFile(project, "root.pending.json");
    await done(project, ["trust", "rotate", "online", "--keys", first]);
    const earlier = readFileSync(waiting);
    await done(project, ["trust", "sign", "--keys", second]);
    const complete = readFileSync(trustFile(project, "2.root.json"));
    writeFileSync(waiting, earlier);
    for (const args of [["sign"], ["rotate", "targets"]])
      expect(await project.relcat(["trust", ...args, "--keys", third])).toMatchObject({
        exitCode: 1,
        stderr:
          "error[trust-damaged] releases/trust/root.pending.json has version 2, expected 3\n" +
          "  hint: Remove it. If its change is missing, make it again: relcat trust rotate",
      });
    expect(readFileSync(trustFile(project, "2.root.json"))).toEqual(complete);
  });

  test("is refused if it was changed after someone signed it", async () => {
    const project = await signedProject("full");
    const [first, second] = holders(project);
    const waiting = trustFile(project, "root.pending.json");
    await done(project, ["trust", "rotate", "online", "--keys", first]);
    writeFileSync(waiting, readFileSync(waiting, "utf8").replace(/"expires":"2\d/, '"expires":"30'));
    const { exitCode, stderr } = await project.relcat(["trust", "sign", "--keys", second]);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^error\[trust-damaged\] releases\/trust\/root\.pending\.json is not what [0-9a-f]{16} signed\n/,
      ),
    ]);
    expect(existsSync(trustFile(project, "2.root.json"))).toBe(false);
  });

  test("does not keep the holder of the targets key from signing for another year", async () => {
    const project = await signedProject("full");
    const [first, second, third, targets] = holders(project);
    const read = () => JSON.parse(readFileSync(trustFile(project, "targets.json"), "utf8")).signed;
    const at = ["--now", "2027-07-01T00:00:00Z"];
    expect(await done(project, ["trust", "sign", "--keys", targets, ...at])).toContain(
      "Wrote releases/trust/targets.json and releases/trust/root.pending.json.2 root keys more must sign",
    );
    expect(read()).toMatchObject({ version: 2, expires: "2028-06-30T00:00:00Z" });
    expect(await done(project, ["trust", "sign", "--keys", targets, ...at])).toContain(
      `No key in ${targets} signs anything new.2 root keys more must sign`,
    );
    await done(project, ["trust", "sign", "--keys", first, ...at]);
    const complete = await done(project, ["trust", "sign", "--keys", second, ...at]);
    expect(complete).toContain("Wrote releases/trust/2.root.json.");
    expect(read()).toMatchObject({ version: 2 });
    const nothing = await done(project, ["trust", "sign", "--keys", third, ...at]);
    expect(nothing).toContain("Nothing waits for a signature, and nothing expires soon.");
  });
});

test("sign refuses targets that the new targets key has not signed", async () => {
  const project = await signedProject("full");
  const [first, second, third] = holders(project);
  await done(project, ["trust", "rotate", "targets", "--keys", first, ...on(1)]);
  await done(project, ["trust", "sign", "--keys", second, ...on(1)]);
  const { exitCode, stderr } = await project.relcat(["sign", ...on(1)], onlineKey(project.keys));
  expect([exitCode, stderr]).toEqual([
    2,
    "error[key-untrusted] releases/trust/targets.json is not signed by the targets key of the newest root\n" +
      "  hint: The holder of the targets key renews it: relcat trust sign --keys KEYS, and commit releases/trust. Then run the command again.",
  ]);
  expect(await done(project, ["trust", "sign", "--keys", third, ...on(1)])).toMatch(
    /^No key in .* signs anything new\.Next: relcat trust sign --keys KEYS, by the holder of the targets key$/,
  );
  await done(project, ["trust", "sign", "--keys", first, ...on(1)]);
  await done(project, ["sign", ...on(1)], onlineKey(project.keys));
  await look(project, await serveFiles(project.dist), 1);
});

test("root and targets are renewed for another year before they expire", async () => {
  const project = await signedProject();
  const nothing = await done(project, ["trust", "sign", "--keys", project.keys, ...on(60)]);
  expect(nothing).toContain("Nothing waits for a signature, and nothing expires soon.");
  const renewed = await done(project, ["trust", "sign", "--keys", project.keys, ...on(200)]);
  expect(renewed).toContain("releases/trust/2.root.json");
  expect(renewed).toContain("releases/trust/targets.json");
  const targets = JSON.parse(readFileSync(join(project.folder, "releases/trust/targets.json"), "utf8"));
  expect(targets.signed.delegations.roles.map(({ name }: { name: string }) => name)).toContain("releases-29");
});

test.each(["2026-02-30T00:00:00Z", "2026-12-31T24:00:00Z", "tomorrow"])("--now refuses %s", async (now) => {
  const { folder, keys } = await signedProject();
  const { exitCode, stderr } = await relcat(folder, ["trust", "sign", "--keys", keys, "--now", now]);
  const message = `error[usage] --now is "${now}", expected a time in UTC\n  hint: For example: 2026-09-14T08:00:00Z`;
  expect([exitCode, stderr]).toEqual([2, message]);
});

test("trust init covers the years of open releases, which check and sign then accept", async () => {
  const made = project({
    "releases/catalog.yaml": {
      product: "Example",
      require: {},
      base_url: "https://example.com",
      trust: "simple",
    },
    ...release("24.05.001", [artifact("a.rpm", "rpm", "a", { size: 1 })]),
  });
  const keys = join(temporaryFolder(), "keys");
  await made.succeed("trust", "init", keys, "--now", "2026-10-01T00:00:00Z");
  const targets = JSON.parse(made.read("releases/trust/targets.json"));
  const years = ["24", "25", "26", "27", "28"].map((year) => `releases-${year}`);
  expect(targets.signed.delegations.roles.map(({ name }: { name: string }) => name)).toEqual([
    "catalog",
    ...years,
  ]);
  expect((await made.succeed("check")).stdout).not.toContain("role-undelegated");
  await made.succeed("cut", "24.05.001");
  await made.succeed("build", "--released");
  const { exitCode, stderr } = await relcat(made.folder, ["sign"], { env: onlineKey(keys) });
  expect(exitCode, stderr).toBe(0);
});

test("sign refuses a release of a year without a delegation", async () => {
  const project = await signedProject();
  await done(project, ["new", "30.01", "--date", "2030-01-05"]);
  writeFileSync(join(project.folder, "releases/30.01.001/manifests.json"), "");
  rmSync(join(project.folder, "releases/30.01.001/manifests.json"));
  mkdirSync(join(project.folder, "releases/30.01.001/manifests"));
  const artifact = {
    name: "a.rpm",
    package_type: "rpm",
    sha256: "a".repeat(64),
    attestation: { sha256: "a".repeat(64) },
  };
  writeFileSync(
    join(project.folder, "releases/30.01.001/manifests/a.json"),
    JSON.stringify({ release: "30.01.001", artifacts: [artifact] }),
  );
  const hint =
    "  hint: Ask the holder of the targets key to sign for more years: relcat trust sign --keys KEYS";
  expect(await done(project, ["check"])).toContain(
    `releases/30.01.001/release.yaml:1:1 warning[role-undelegated] no role is responsible for releases-30 yet, so relcat sign will refuse 30.01.001\n${hint}\n`,
  );
  await done(project, ["cut", "30.01.001", "--allow-incomplete"]);
  await done(project, ["build", "--released"]);
  const { exitCode, stderr } = await project.relcat(["sign"], onlineKey(project.keys));
  expect([exitCode, stderr]).toEqual([
    1,
    `error[role-undelegated] no role is responsible for releases-30 yet\n${hint}`,
  ]);
  await done(project, ["trust", "sign", "--keys", project.keys]);
  expect(await done(project, ["check"])).not.toContain("role-undelegated");
  await project.sign();
});

describe("private keys", () => {
  test("are readable by their owner only, and written once", async () => {
    const { keys, folder } = await signedProject();
    for (const name of ["root.pem", "targets.pem", "online.pem"]) {
      expect(statSync(join(keys, name)).mode & 0o777).toBe(0o600);
    }
    rmSync(join(folder, "releases/trust"), { recursive: true });
    const again = await relcat(folder, ["trust", "init", keys]);
    expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining("error[file-exists]")]);
    chmodSync(join(keys, "root.pem"), 0o644);
    const fresh = await signedProject("simple", undefined, "Other");
    const open = await fresh.relcat(["trust", "sign", "--keys", keys, ...on(200)]);
    expect(open.stderr).toMatch(/error\[key-unusable\] .*root\.pem can be read by others[\s\S]*chmod 600/);
  });

  test("are refused in a git repository", async () => {
    const folder = copyProject(".");
    await execa("git", ["init", "-q", folder]);
    const { exitCode, stderr } = await relcat(folder, ["trust", "init", "keys"]);
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining("error[key-exposed] keys is in a git work tree"),
    ]);
    expect(existsSync(join(folder, "keys"))).toBe(false);
  });

  test("can be in a program, whose signatures are checked", async () => {
    const project = await signedProject();
    const signer = join(temporaryFolder(), "signer.mjs");
    writeFileSync(
      signer,
      `import { createPrivateKey, createPublicKey, sign } from "node:crypto";
       import { readFileSync } from "node:fs";
       const key = createPrivateKey(readFileSync(process.argv[2]));
       const bytes = readFileSync(0);
       console.log(sign(null, process.argv[3] === "wrong" ? Buffer.from("x") : bytes, key).toString("base64"));`,
    );
    const config = join(project.folder, "releases/catalog.yaml");
    const text = readFileSync(config, "utf8");
    const { createPublicKey } = await import("node:crypto");
    const der = createPublicKey(readFileSync(join(project.keys, "online.pem"))).export({
      format: "der",
      type: "spki",
    });
    const publicKey = der.subarray(12).toString("base64");
    const withSigner = (...more: string[]) => {
      const exec = JSON.stringify([process.execPath, signer, join(project.keys, "online.pem"), ...more]);
      const online = `{profile: simple, online: {exec: ${exec}, public: "${publicKey}"}}`;
      writeFileSync(config, text.replace(/^trust: .*$/m, `trust: ${online}`));
    };
    withSigner();
    await done(project, ["build", "--released"]);
    await done(project, ["sign", ...on(0)]);
    await look(project, await serveFiles(project.dist), 0);
    writeFileSync(
      config,
      text.replace(
        /^trust: .*$/m,
        `trust: {profile: simple, online: {exec: [no-such-signer], public: "${publicKey}"}}`,
      ),
    );
    const gone = await project.relcat(["sign", ...on(20)]);
    expect([gone.exitCode, gone.stderr]).toEqual([
      2,
      expect.stringMatching(
        /^error\[key-unusable\] the signer no-such-signer failed: there is no such program\n/,
      ),
    ]);
    withSigner("wrong");
    const { exitCode, stderr } = await project.relcat(["sign", ...on(20)]);
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining("its output is not a signature by its public key"),
    ]);
  });
});

describe("content of releases/trust", () => {
  test("is created once", async () => {
    const project = await signedProject();
    const { exitCode, stderr } = await project.relcat(["trust", "init", join(temporaryFolder(), "more")]);
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(/error\[trust-exists\] [\s\S]*relcat trust rotate/),
    ]);
  });

  test("is complete, or refused with a hint", async () => {
    const project = await signedProject();
    writeFileSync(join(project.folder, "releases/trust/targets.json"), "{}");
    const { exitCode, stderr } = await project.relcat(["trust", "list"]);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/error\[trust-damaged\] releases\/trust: targets\.json cannot be read/),
    ]);
    writeFileSync(join(project.folder, "releases/trust/notes.txt"), "");
    const { stdout } = await project.relcat(["check"]);
    expect(stdout).toContain("releases/trust/notes.txt:1:1 error[file-unexpected]");
    expect(stdout).toContain("error[trust-damaged] releases/trust: targets.json cannot be read");
  });

  test("is created by trust init", async () => {
    const { exitCode, stderr } = await relcat(copyProject("."), ["trust", "list"]);
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(/error\[trust-missing\] [\s\S]*relcat trust init/),
    ]);
  });
});
