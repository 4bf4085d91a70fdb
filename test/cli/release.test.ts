/** @module-tag long */
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mediaType } from "../../pipeline/documents/file-headers.ts";
import { localWeb } from "../docs/local-web.ts";
import { type Env, everything, type Releasing, releasing, version } from "../support/releasing.ts";
import { relcat, spawnRelcat, temporaryFolder } from "../support/run.ts";
import { atTerminal, hasTerminal } from "../support/terminal.ts";

interface ReleaseDocument {
  steps: { step: string; result: string; reason: string | null; output: object | null }[];
  problems?: { code: string }[];
  next: string | null;
}

const resultsOf = ({ steps }: ReleaseDocument) =>
  Object.fromEntries(steps.map(({ step, result }) => [step, result]));

const done = { check: "done", cut: "done", build: "done", sign: "done", publish: "done", verify: "done" };

test("a release stops at each refusal with its status, and continues when it is run again", async () => {
  const made = await releasing("simple");
  const command = ["release", "prod", version, "--yes", "--verify-at", "copy", "--wait", "0s"];
  const again = async (status: number, code: string | undefined, env: Env = made.env) => {
    const { exitCode, stdout, stderr } = await relcat(made.folder, [...command, "--json"], { env });
    const document: ReleaseDocument = JSON.parse(stdout);
    expect([exitCode, document.problems?.[0]?.code]).toEqual([status, code]);
    const live = /^The build [0-9a-f]{12} is live at prod, but its verification failed:\n/m;
    expect(live.test(stderr)).toBe(resultsOf(document).verify === "refused");
    const line = `relcat ${command.slice(0, -2).join(" ")}`;
    expect(document.next).toBe(status === 0 ? null : `${line}, when that is repaired`);
    return resultsOf(document);
  };
  // check: the release has no date.
  const settings = made.read(`releases/${version}/release.yaml`);
  made.write(`releases/${version}/release.yaml`, { version });
  const nothing = {
    cut: "not-reached",
    build: "not-reached",
    sign: "not-reached",
    publish: "not-reached",
    verify: "not-reached",
  };
  expect(await again(1, "missing-key")).toEqual({ ...nothing, check: "refused" });
  expect(made.list("releases")).not.toContain("ledger.jsonl");
  made.write(`releases/${version}/release.yaml`, settings);
  // check: the artifact is not at the site.
  expect(await again(1, "artifact-unpublished")).toEqual({ ...nothing, check: "refused" });
  expect(made.list("releases")).not.toContain("ledger.jsonl");
  made.upload();
  // publish: the program that clears a cache fails.
  const catalog = made.read("releases/catalog.yaml");
  made.write("releases/catalog.yaml", catalog.replace('www"}', 'www","purge":{"exec":["false"]}}'));
  const begun = { check: "done", cut: "done", build: "done", sign: "done", verify: "not-reached" };
  expect(await again(1, "hook-failed")).toEqual({ ...begun, publish: "refused" });
  made.write("releases/catalog.yaml", catalog);
  // verify: there is nothing at the place.
  const unchanged = { cut: "unchanged", build: "unchanged", sign: "unchanged", publish: "unchanged" };
  const unverified = { check: "done", ...unchanged, verify: "refused" };
  expect(await again(2, "site-unknown")).toEqual(unverified);
  // verify: a file there was changed.
  cpSync(join(made.site, "current"), join(made.folder, "copy"), { recursive: true, dereference: true });
  const page = join(made.folder, "copy/index.html");
  const bytes = readFileSync(page);
  writeFileSync(page, Buffer.concat([bytes, Buffer.from(" ")]));
  expect(await again(6, undefined)).toEqual(unverified);
  writeFileSync(page, bytes);
  expect(await again(0, undefined)).toEqual({ ...unverified, verify: "done" });
  expect((await made.at(...command)).stdout).toMatch(/\nprod was up to date: every step was done already\.$/);
});

test("the site is verified at its own address", async () => {
  const made = await releasing("simple");
  made.upload();
  const web = await localWeb({
    "downloads.example.com": (path) => {
      const file = join(made.site, "current", path === "" ? "index.html" : path);
      if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return undefined;
      return { bytes: readFileSync(file), headers: { "content-type": mediaType(file) } };
    },
  });
  const env = { ...made.env, ...web };
  const { exitCode, stdout, stderr } = await spawnRelcat(made.folder, ["release", "prod", "--all"], { env });
  expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining("Next: ")]);
  const headings = stdout.split("\n").filter((line) => line.startsWith("["));
  expect(headings).toEqual([
    "[1/6] check",
    "[2/6] cut",
    "[3/6] build",
    "[4/6] sign",
    "[5/6] publish",
    "[6/6] verify",
  ]);
  expect(stdout).toContain("\nVerified prod: 1 release, 1 package, ");
  const lines = stdout.split("\n").slice(-3);
  expect(lines).toEqual([
    "Released to prod.",
    expect.stringMatching(
      /^Its signatures are valid until \d{4}-\d\d-\d\d\. Run this every day, with cron, a timer or CI \(docs\/signing\.md\):$/,
    ),
    "  relcat publish prod --refresh",
  ]);
  const refresh = (lines[2] ?? "").trim().split(" ").slice(1);
  expect((await made.at(...refresh)).stdout).toMatch(/^prod has build .*: nothing to do\.$/);
  // Only the first signed publish says it.
  const catalog = JSON.parse(made.read("releases/catalog.yaml"));
  made.write("releases/catalog.yaml", { ...catalog, product: "Renamed" });
  const later = await spawnRelcat(made.folder, ["release", "prod", "--all"], { env });
  expect(later.stdout).toMatch(/\nReleased to prod\.$/);
});

test("a site without trust is not signed, and the steps say so", async () => {
  const made = await releasing("none");
  made.upload();
  const { exitCode, stdout } = await made.at("release", "prod", "--all");
  expect(exitCode).toBe(0);
  expect(stdout).toContain("[4/6] sign\nSkipped: catalog.yaml has trust: none.\n[5/6] publish\nPublished");
  expect(stdout).toMatch(/\[6\/6\] verify\nSkipped: nothing at the site is signed\.\nReleased to prod\.$/);
  expect(statSync(join(made.site, "current/build.json")).isFile()).toBe(true);
});

test("--dry-run shows each step and writes nothing", async () => {
  const made = await releasing("simple");
  made.upload();
  const rehearsed = async (...args: string[]) => {
    const before = [everything(made.folder), everything(made.site)];
    const { exitCode, stdout, stderr } = await made.at("release", "prod", "--dry-run", ...args);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("Next: the same without --dry-run")]);
    const document = JSON.parse((await made.at("release", "prod", "-n", "--json", ...args)).stdout);
    expect(document).toMatchObject({ dry_run: true, next: null });
    expect([everything(made.folder), everything(made.site)]).toEqual(before);
    return stdout.replace(/\d{4}-\S+Z/, "TIME").replace(/\d+ files\./, "FILES.");
  };
  // The dry run refuses what the publish would refuse after the cut.
  const { site } = made;
  renameSync(join(site, "files"), join(site, "kept"));
  const missing = await made.at("release", "prod", "--dry-run");
  expect([missing.exitCode, missing.stderr]).toEqual([
    1,
    expect.stringContaining("error[artifact-unpublished]"),
  ]);
  renameSync(join(site, "kept"), join(site, "files"));
  expect(await rehearsed()).toBe(`[1/6] check
  address    readers must reach the site at the address that its documents name
  access     the storage of the site must answer
  clock      clients reject signatures of another day
  turn       two publishers must not work on the site at the same time
  ledger     new ids must follow those that the site has
  commit     a checkout that is older than the live build must not replace it
  hold       a rollback keeps newer builds back until someone releases the hold
  cut        every release must be complete, valid and inspected before its ids are permanent
  notes      notes that readers have seen change only with the day of the correction
  folder     the build must not remove files of another program
  key        only the online key that releases/trust names can sign
  root       readers trust the root that the site has
  expiry     clients reject a site whose root or targets have expired
  years      the targets key must have delegated the year of each release
  artifacts  every artifact that becomes public must be uploaded, with the size and digest of its record
[2/6] cut
Dry run, nothing was written:
New ids, dated TIME:
  1  26.09.001  rpm  tool-26.09.001.rpm
[3/6] build
Would build 1 release with 1 package into dist/: FILES.
[4/6] sign
Would sign dist/.
[5/6] publish
Would publish dist/ to prod.
[6/6] verify
Would verify https://downloads.example.com.
Dry run, nothing was written.`);
  await made.succeed("cut", version);
  const cut = await rehearsed(version, "--verify-at", "copy", "--out", "public");
  expect(cut).toContain("Nothing to cut: everything is already permanent.\n[3/6] build\n");
  expect(cut).toContain("Would sign public/.\n");
  expect(cut).toContain("Would publish public/ to prod.\n");
  expect(cut).toContain("Would verify copy.");
  // A refusal of the real command is one of the dry run.
  rmSync(join(made.site, "files"), { recursive: true });
  const refused = await made.at("release", "prod", "--dry-run");
  expect(refused).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("error[artifact-unpublished]"),
  });
  expect(refused.stderr).toMatch(/Next: relcat release prod --dry-run, when that is repaired$/);
});

test("nothing is cut for a site that no reader could reach", async () => {
  const made = await releasing("none");
  made.upload();
  made.write(
    "releases/catalog.yaml",
    made.read("releases/catalog.yaml").replace("https://downloads.example.com", "http://127.0.0.1:8080"),
  );
  for (const args of [["--all"], ["--dry-run"]]) {
    const { exitCode, stdout, stderr } = await made.at("release", "prod", ...args);
    expect([exitCode, stdout]).toEqual([2, "[1/6] check"]);
    expect(stderr).toContain("error[build-other-site] prod would send its readers to http://127.0.0.1:8080");
  }
  expect(made.list("releases")).not.toContain("ledger.jsonl");
});

test("only --all or --yes cuts without a question", async () => {
  const made = await releasing("none");
  made.upload();
  const refused = async (...args: string[]) => {
    const { exitCode, stderr } = await made.at("release", ...args);
    expect([exitCode, made.list("releases")]).toEqual([2, expect.not.arrayContaining(["ledger.jsonl"])]);
    return stderr;
  };
  const which = "Name versions, or give --all to cut all of these: 26.09.001 (1 record).";
  expect(await refused("prod")).toContain(which);
  const unconfirmed = await refused("prod", version);
  expect(unconfirmed).toContain("error[not-confirmed] there is no terminal to confirm this on");
  expect(unconfirmed).toMatch(/Next: relcat release prod 26\.09\.001 --yes$/);
  expect(await refused("prod")).toMatch(/Next: relcat release prod --all$/);
  expect(await refused("elsewhere", "--all")).toMatch(/^error\[site-unknown\] /);
  expect(await refused("prod", "--all", "--allow-unpushed", " ")).toContain("the reason is empty");
});

test("a package that a feed leaves out stops a release without --yes, also with --all", async () => {
  const site = join(temporaryFolder(), "www");
  const made = await releasing("none", {
    "releases/catalog.yaml": {
      ...{ product: "Example", require: {}, base_url: "https://downloads.example.com", feeds: { yum: {} } },
      sites: { prod: { url: `dir:${site}`, settles: false } },
    },
  });
  made.upload();
  cpSync(made.site, site, { recursive: true });
  const { exitCode, stderr } = await made.at("release", "prod", "--all");
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining(
      "Not in a package feed:\n  yum  26.09.001  tool-26.09.001.rpm  its manifest does not contain the metadata of the package\n" +
        "error[not-confirmed] there is no terminal to confirm this on; nothing was changed",
    ),
  ]);
  expect(stderr).toMatch(/Next: relcat release prod --all --yes$/);
  expect(made.list("releases")).not.toContain("ledger.jsonl");
  expect((await made.at("release", "prod", "--all", "--yes", "--dry-run")).stderr).toContain(
    "Not in a package feed:",
  );
});

test.skipIf(!hasTerminal)("a release asks at a terminal before it cuts", async () => {
  const made = await releasing("none");
  made.upload();
  const asked = (answer: string) => atTerminal(made.folder, ["release", "prod", version], answer);
  const no = await asked("n\n");
  const said = expect.stringMatching(/Cut it and publish to prod\? \[y\/N\] n\nNothing was changed\.\n$/);
  expect([no.exitCode, no.text]).toEqual([9, said]);
  expect(made.list("releases")).not.toContain("ledger.jsonl");
  expect(await asked("y\n")).toMatchObject({
    exitCode: 0,
    text: expect.stringContaining("Released to prod."),
  });
  const { exitCode, text } = await asked("");
  expect([exitCode, text]).toEqual([0, expect.not.stringContaining("[y/N]")]);
});

/** The project in a clone of a remote that has everything but the cut. */
async function cloned(): Promise<Releasing> {
  const made = await releasing("none", { ".gitignore": "/dist/\n.relcat-*\n" });
  made.upload();
  const origin = temporaryFolder();
  await made.git("init", "-q", "--bare", "-b", "main", origin);
  await made.git("init", "-q", "-b", "main");
  for (const [name, value] of [
    ["user.name", "Test"],
    ["user.email", "test@example.com"],
  ] as const)
    await made.git("config", name, value);
  await made.git("remote", "add", "origin", origin);
  await made.git("add", ".");
  await made.git("commit", "-qm", "Start");
  await made.git("push", "-q", "-u", "origin", "main");
  return made;
}

test("a release stops after the cut until the base has its lines", async () => {
  const made = await cloned();
  const dry = await made.at("release", "prod", "--dry-run");
  expect(dry.stderr).toContain("The release would stop here until the new ledger lines are pushed.");
  const first = await made.at("release", "prod", version, "--yes");
  expect([first.exitCode, first.stderr]).toEqual([3, expect.stringContaining("error[ledger-unpushed]")]);
  expect(first.stdout).toMatch(/\nCommitted as [0-9a-f]+: Cut 26\.09\.001$/);
  expect(first.stderr).toMatch(/\nNext: git push origin main, then relcat release prod 26\.09\.001 --yes$/);
  expect(readdirSync(made.folder)).not.toContain("dist");
  expect(await made.git("status", "--porcelain")).toBe("");
  await made.git("push", "-q", "origin", "main");
  const { exitCode, stdout } = await made.at("release", "prod", version, "--yes", "--json");
  expect([exitCode, resultsOf(JSON.parse(stdout))]).toEqual([
    0,
    { ...done, cut: "unchanged", sign: "skipped", verify: "skipped" },
  ]);
});

test("from another branch, the next commands merge it", async () => {
  const made = await cloned();
  await made.git("switch", "-q", "-c", "cuts");
  const { exitCode, stderr } = await made.at("release", "prod", "--all", "-o", "public");
  expect(exitCode).toBe(3);
  expect(stderr).toMatch(
    /Next: git push origin cuts, then merge cuts into main, then git switch main && git pull, then relcat release --out public prod --all$/,
  );
});

test("a release passes the base if the site does not settle, or with --allow-unpushed", async () => {
  const made = await cloned();
  expect(await made.at("release", "trial", "--all")).toMatchObject({ exitCode: 0 });
  const reason = "The forge is down.";
  const { exitCode } = await made.at("release", "prod", "--all", "--allow-unpushed", reason);
  expect(exitCode).toBe(0);
  expect((await made.succeed("history", "prod")).stdout).toContain(reason);
});

test("the next command repeats -C and the options of the release", async () => {
  const made = await releasing("none");
  made.upload();
  const { stderr } = await relcat(
    "/",
    ["-C", made.folder, "release", "prod", version, "--out", "public"],
    {},
  );
  expect(stderr).toContain(`Next: relcat -C ${made.folder} release --out public prod 26.09.001 --yes`);
});

test("verify says of an unsigned site of the project that it is not signed", async () => {
  const made = await releasing("none");
  const { exitCode, stderr } = await made.at("verify", "prod");
  expect(exitCode).toBe(2);
  expect(stderr).toBe(
    "error[trust-missing] prod is not signed: catalog.yaml has trust: none\n" +
      "  hint: To sign it, run relcat trust init KEYS-FOLDER, and add trust: simple to catalog.yaml.",
  );
});

test("a build into the output of GoReleaser is refused with the way to read it", async () => {
  const made = await releasing("none", { "dist/artifacts.json": "[]" });
  const { exitCode, stderr } = await made.at("build");
  expect([exitCode, made.list("dist")]).toEqual([2, ["artifacts.json"]]);
  expect(stderr).toContain("dist is output of GoReleaser");
  expect(stderr).toContain("relcat ingest --release VERSION dist reads this one.");
});
