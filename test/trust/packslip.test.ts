import { createPublicKey, verify } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { packslipFaults } from "../../pipeline/trust/feeds/packslip.ts";
import { sha256 } from "../../pipeline/trust/metadata.ts";
import { type Project, project } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";

/** The statements of packslip at a published site, read as a client reads them. */

const list = ".well-known/packslip.json";
const bundle = (version: string) => `releases/${version}/packslip.sigstore.json`;

let made: Project;
let keys: string;

const run = async (...args: string[]) => {
  const env = {
    RELCAT_ONLINE_KEY: readFileSync(join(keys, "online.pem"), "utf8"),
    RELCAT_PACKSLIP_KEY: readFileSync(join(keys, "packslip.pem"), "utf8"),
  };
  return relcat(made.folder, args, { env });
};

const succeed = async (...args: string[]) => {
  const { exitCode, stdout, stderr } = await run(...args);
  expect(exitCode, stderr).toBe(0);
  return stdout + stderr;
};

const publish = async () => {
  const said = await succeed("build", "--released", "--site", "test");
  await succeed("sign", "--site", "test");
  await succeed("publish", "test");
  return said;
};

const live = (path: string) => readFileSync(join(made.folder, "www/current", path));

/** The statement of a live bundle, whose signature is checked with the key that users pin. */
function statementIn(path: string) {
  const pinned = readFileSync(join(made.folder, "releases/trust/packslip.pub"), "utf8").split("\n");
  const key = Buffer.from(pinned[1] ?? "", "base64");
  const { mediaType, dsseEnvelope } = JSON.parse(live(path).toString());
  expect(mediaType).toBe("application/vnd.dev.sigstore.bundle.v0.3+json");
  const payload = Buffer.from(dsseEnvelope.payload, "base64");
  const head = `DSSEv1 28 application/vnd.in-toto+json ${payload.length} `;
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), key.subarray(10)]);
  const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
  const covered = Buffer.concat([Buffer.from(head), payload]);
  expect(verify(null, covered, publicKey, Buffer.from(dsseEnvelope.signatures[0].sig, "base64"))).toBe(true);
  const statement = JSON.parse(payload.toString());
  const id = Buffer.from(key.subarray(2, 10)).reverse().toString("hex").toUpperCase();
  expect(statement.predicate.identity).toEqual({ scheme: "sigstore-key", key_id: id });
  expect(pinned[0]).toBe(`untrusted comment: minisign public key ${id}`);
  return statement;
}

/** @param now time of the cut, without which it is the clock's */
async function release(version: string, now: string | undefined, ...files: string[]): Promise<void> {
  for (const file of files) made.write(file, `${file} of ${version}`);
  made.write(`releases/${version}/release.yaml`, { version, date: "2026-08-19" });
  const manifest = `releases/${version}/manifests/build.json`;
  await made.succeed("ingest", "--release", version, "--out", manifest, ...files);
  await made.succeed("upload", "--site", "test", "--manifest", manifest, ...files);
  await made.succeed("cut", version, ...(now === undefined ? ["--yes"] : ["--now", now]));
}

const type = (description: string, system = "linux") => ({
  operating_system: system,
  platform: 17,
  kind: "client",
  description,
});

beforeAll(async () => {
  made = project({
    "releases/catalog.yaml": {
      product: "Acme",
      base_url: "https://downloads.acme.example/base",
      require: {},
      trust: "simple",
      sites: {
        test: { url: "dir:www", settles: false },
        staging: { url: "dir:staging", settles: false, base_url: "https://staging.acme.example" },
      },
      package_types: {
        "linux-tar": type("Archive"),
        "linux-fips": type("Archive, FIPS"),
        "linux-bin": type("Program"),
        "windows-exe": type("Program", "windows"),
        source: type("Source"),
      },
      ingest: [
        { match: "*_fips_amd64.tar.gz", package_type: "linux-fips", arch: "amd64" },
        { match: "*_amd64.tar.gz", package_type: "linux-tar", arch: "amd64" },
        { match: "*_arm64.tar.gz", package_type: "linux-tar", arch: "arm64" },
        { match: "*_src.tar.gz", package_type: "source", arch: "all" },
        { match: "*_amd64", package_type: "linux-bin", arch: "amd64" },
        { match: "*.exe", package_type: "windows-exe", arch: "amd64" },
      ],
      feeds: {
        packslip: {
          artifacts: {
            "linux-tar": { bin: ["tool-{version}/bin/tool"], libc: "gnu" },
            "linux-fips": { bin: ["tool"], variant: "fips" },
            "linux-bin": { bin: ["tool", "toolx"] },
            "windows-exe": {},
          },
        },
      },
    },
  });
  keys = join(temporaryFolder(), "keys");
  await made.succeed("trust", "init", keys);
  await made.succeed("trust", "init", keys, "--packslip");
  await release(
    "26.08.002",
    "2026-08-02T10:22:31.123456Z",
    "tool_fips_amd64.tar.gz",
    "tool_amd64.tar.gz",
    "tool_arm64.tar.gz",
    "tool_src.tar.gz",
  );
  await release("26.08.010", "2026-08-10T10:22:31.123456Z", "tool_amd64.tar.gz", "tool_amd64", "tool.exe");
});

test("a statement describes the files of the configured package types", async () => {
  const said = await publish();
  expect(said).toContain(
    `Serve https://downloads.acme.example/base/${list} also at https://downloads.acme.example/${list}`,
  );
  const files = "https://downloads.acme.example/base/files";
  const { subject, predicate } = statementIn(bundle("26.08.002"));
  const name = (each: { name: string }) => each.name;
  expect(subject.map(name)).toEqual(predicate.artifacts.map(name));
  expect(subject[0].digest.sha256).toBe(sha256(Buffer.from(`${subject[0].name} of 26.08.002`)));
  const { artifacts, identity: _, ...rest } = predicate;
  expect(rest).toEqual({
    project: "downloads.acme.example",
    version: "26.8.2",
    published_at: "2026-08-02T10:22:31Z",
    notes_url: "https://downloads.acme.example/base/releases/26.08.002/",
  });
  const archive = { os: "linux", format: "tar.gz", size: expect.any(Number) };
  const url = (file: string) => ({ name: file, url: `${files}/26.08.002/${file}` });
  const ofMachine = { ...archive, libc: "gnu", bin: ["tool-26.08.002/bin/tool"] };
  expect(
    artifacts.toSorted((a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)),
  ).toEqual([
    { ...ofMachine, ...url("tool_amd64.tar.gz"), arch: "x86_64" },
    { ...ofMachine, ...url("tool_arm64.tar.gz"), arch: "aarch64" },
    { ...archive, ...url("tool_fips_amd64.tar.gz"), arch: "x86_64", variant: "fips", bin: ["tool"] },
  ]);
  const programs = statementIn(bundle("26.08.010")).predicate.artifacts;
  const find = (file: string) => programs.find((each: { name: string }) => each.name === file);
  expect(find("tool_amd64")).toMatchObject({
    format: "raw",
    bin: [
      { path: "tool_amd64", name: "tool" },
      { path: "tool_amd64", name: "toolx" },
    ],
  });
  expect(find("tool.exe")).toMatchObject({ os: "windows", format: "exe" });
});

test("the list has every release, oldest and newest, with the digest of its statement", () => {
  const { subject, predicate } = statementIn(list);
  expect(predicate.releases.map((each: { version: string }) => each.version)).toEqual(["26.8.10", "26.8.2"]);
  for (const [index, { tag, packslip }] of predicate.releases.entries()) {
    expect(packslip).toBe(`https://downloads.acme.example/base/${bundle(tag)}`);
    expect(subject[index]).toEqual({ name: packslip, digest: { sha256: sha256(live(bundle(tag))) } });
  }
  expect(Date.parse(predicate.expires_at) - Date.parse(predicate.generated_at)).toBe(60 * 86_400_000);
});

test("the project of another site has the name of its host", async () => {
  const said = await succeed("build", "--released", "--site", "staging", "--out", "other");
  expect(said).not.toContain("packslip.json also at");
  const { predicate } = JSON.parse(made.read("other/.well-known/packslip.unsigned.json"));
  expect(predicate.project).toBe("staging.acme.example");
});

test("signing again changes nothing, and verify reads the statements", async () => {
  const before = live(list);
  await publish();
  expect(live(list)).toEqual(before);
  const root = ["--root", "releases/trust/1.root.json", "--trust-dir", temporaryFolder()];
  await succeed("verify", "www/current", ...root);
});

describe("verify reports", () => {
  const paths = ["keys/packslip.pub", list, ".well-known/packslip.unsigned.json"];
  const own = (version: string) => [bundle(version), `releases/${version}/packslip.unsigned.json`];

  /** Faults of a site whose signed lists have other bytes at a path; none: the file is missing. */
  async function faultsOf(path: string, bytes: Buffer | undefined, now = Date.now()): Promise<string[]> {
    const files = new Map<string, Buffer>(
      [...paths, ...own("26.08.002"), ...own("26.08.010")].map((name) => [name, live(name)]),
    );
    if (bytes) files.set(path, bytes);
    else files.delete(path);
    const listed = Object.fromEntries(Array.from(files, ([name, each]) => [name, { sha256: sha256(each) }]));
    const faults = await packslipFaults({ listed, read: async (name) => files.get(name), now });
    return faults.map((fault) => `${fault.path} ${fault.what}`);
  }

  test("nothing while every statement is right", async () => {
    expect(await faultsOf(list, live(list))).toEqual([]);
  });

  test("the key, if it is missing or not one of minisign", async () => {
    for (const bytes of [undefined, Buffer.from("key")])
      expect(await faultsOf("keys/packslip.pub", bytes)).toEqual([
        expect.stringMatching(/^keys\/packslip\.pub is not a key as minisign writes it/),
      ]);
  });

  test("a statement that is missing, that another key signed, or that is of another release", async () => {
    const path = bundle("26.08.010");
    const changed = live(path)
      .toString()
      .replace(/"sig":"(.)/, (_, first) => `"sig":"${first === "A" ? "B" : "A"}`);
    const cases = [
      [undefined, "is missing beside"],
      [Buffer.from(changed), "is not signed by keys/packslip.pub"],
      [live(bundle("26.08.002")), "does not say what releases/26.08.010/packslip.unsigned.json"],
    ] as const;
    for (const [bytes, what] of cases)
      expect((await faultsOf(path, bytes)).join("\n")).toContain(`${path} ${what}`);
  });

  test("a list that names other statements than the site has", async () => {
    expect(await faultsOf(bundle("26.08.010"), live(bundle("26.08.002")))).toContainEqual(
      expect.stringMatching(/^\.well-known\/packslip\.json does not say what/),
    );
  });

  test("a list that has ended", async () => {
    const later = Date.now() + 61 * 86_400_000;
    expect(await faultsOf(list, live(list), later)).toEqual([
      expect.stringMatching(/^\.well-known\/packslip\.json expired on .*renew it with/),
    ]);
  });
});

test("a withdrawn release stays in the list with its reason, and its statement keeps its bytes", async () => {
  const { sequence } = statementIn(list).predicate;
  const before = live(bundle("26.08.002"));
  await made.succeed("retract", "26.08.002", "--reason", "Loses its settings", "--yes");
  await publish();
  const { predicate } = statementIn(list);
  expect(predicate.releases[1]).toMatchObject({ status: "yanked", status_reason: "Loses its settings" });
  expect(predicate.releases[0].status).toBeUndefined();
  expect(predicate.sequence).toBeGreaterThan(sequence);
  expect(live(bundle("26.08.002"))).toEqual(before);
});

test("a file that clients cannot distinguish from another is left out, with a reason", async () => {
  await release("26.08.011", undefined, "a_amd64.tar.gz", "b_amd64.tar.gz");
  const said = await publish();
  expect(said).toContain("Left out of the packslip feed: a_amd64.tar.gz");
  expect(statementIn(bundle("26.08.011")).predicate.artifacts).toHaveLength(1);
  expect(await succeed("status")).toContain("cannot tell it from b_amd64.tar.gz");
  expect(await succeed("check")).toContain("Give one of their package types a variant");
});

test.each([
  ["another key", "other", /is not the private half of .*packslip\.pub/],
  ["the online key", "online.pem", /is a key of the TUF metadata too/],
])("signing with %s is refused", async (_, file, cause) => {
  const other = join(temporaryFolder(), "keys");
  await project({ "releases/catalog.yaml": { product: "Other" } }).succeed("trust", "init", other);
  const folder = file === "other" ? other : keys;
  const env = {
    RELCAT_ONLINE_KEY: readFileSync(join(keys, "online.pem"), "utf8"),
    RELCAT_PACKSLIP_KEY: readFileSync(join(folder, "online.pem"), "utf8"),
  };
  const { exitCode, stderr } = await relcat(made.folder, ["sign", "--site", "test"], { env });
  expect([exitCode, stderr]).toEqual([expect.any(Number), expect.stringMatching(cause)]);
});

test("a second key, an unsigned site and an unknown package type are refused", async () => {
  expect((await made.run("trust", "init", keys, "--packslip")).stderr).toContain("exists already");
  const other = project({
    "releases/catalog.yaml": {
      product: "Acme",
      base_url: "https://downloads.acme.example",
      feeds: { packslip: { artifacts: { linuxtar: {} } } },
    },
  });
  const { exitCode, stdout } = await other.run("check");
  expect(exitCode).not.toBe(0);
  expect(stdout).toContain("feeds.packslip needs a signed site");
  expect(stdout).toContain('the package type "linuxtar" is not known');
});

test("a refresh renews the list after half of its time, with a higher number", async () => {
  const before = statementIn(list).predicate;
  const env = {
    RELCAT_ONLINE_KEY: readFileSync(join(keys, "online.pem"), "utf8"),
    RELCAT_PACKSLIP_KEY: readFileSync(join(keys, "packslip.pem"), "utf8"),
  };
  const refresh = (days: number) =>
    relcat(made.folder, ["publish", "test", "--refresh"], { env, ahead: days * 86_400_000 });
  await refresh(20);
  expect(statementIn(list).predicate).toEqual(before);
  expect(await refresh(31)).toMatchObject({ exitCode: 0 });
  const after = statementIn(list).predicate;
  expect(after.sequence).toBeGreaterThan(before.sequence);
  expect(after.expires_at > before.expires_at).toBe(true);
});

test("signing replaces a list that a clock dated ahead of time", async () => {
  const before = statementIn(list).predicate;
  expect(Date.parse(before.generated_at)).toBeGreaterThan(Date.now());
  await succeed("build", "--released", "--site", "test");
  await succeed("sign", "--site", "test", "--now", new Date().toISOString());
  await succeed("publish", "test");
  const after = statementIn(list).predicate;
  expect(Date.parse(after.generated_at)).toBeLessThanOrEqual(Date.now());
  expect(after.sequence).toBeGreaterThan(before.sequence);
});

test("trust list shows the key that users pin, and refuses a file that is not one", async () => {
  const file = "releases/trust/packslip.pub";
  const text = readFileSync(join(made.folder, file), "utf8");
  const [comment = "", line] = text.split("\n");
  expect(await succeed("trust", "list")).toContain(
    `packslip   users pin ${line}  ${comment.split(" ").at(-1)}`,
  );
  made.write(file, `${comment}\nRWQ\n`);
  const { exitCode, stderr } = await run("trust", "list");
  expect([exitCode, stderr]).toEqual([
    1,
    `error[trust-damaged] ${file} is not a key as minisign writes it\n  hint: Restore it from git.`,
  ]);
  made.write(file, text);
});

test("without the public key, signing says how to create one", async () => {
  rmSync(join(made.folder, "releases/trust/packslip.pub"));
  await succeed("build", "--released", "--site", "test");
  const { exitCode, stderr } = await run("sign", "--site", "test", "--now", "2027-02-01T00:00:00Z");
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain("relcat trust init KEYS-FOLDER --packslip");
});
