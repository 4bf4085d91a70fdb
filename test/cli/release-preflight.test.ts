/** @module-tag long */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inTurn } from "../support/effort.ts";
import { feedKey, feedSecrets, writeFeedKeys } from "../support/feed-keys.ts";
import { release } from "../support/project.ts";
import { type Env, everything, type Releasing, releasing, rpm, version } from "../support/releasing.ts";
import { relcat, temporaryFolder } from "../support/run.ts";

/** A committed project with an open release, which only its case keeps from being released. */
async function committed(): Promise<Releasing> {
  const made = await releasing("simple", { ".gitignore": "/dist/\n.relcat-*\n" });
  made.upload();
  await made.git("init", "-q", "-b", "main");
  await commit(made);
  return made;
}

async function commit(made: Releasing): Promise<void> {
  await made.git("config", "user.name", "Test");
  await made.git("config", "user.email", "test@example.com");
  await made.git("add", "releases", ".gitignore");
  await made.git("commit", "-qm", "Start");
}

/** Releases the first version, and opens a second one that has the same artifact. */
async function released(made: Releasing): Promise<void> {
  await made.succeed("cut", version, "--commit");
  for (const args of [
    ["build", "--released", "--site", "prod"],
    ["sign", "--site", "prod"],
    ["publish", "prod"],
  ])
    expect((await made.at(...args)).exitCode, args.join(" ")).toBe(0);
  open(made, "26.10.001");
}

function open(made: Releasing, next: string): void {
  const name = `tool-${next}.rpm`;
  for (const [path, content] of Object.entries(release(next, [{ ...rpm, name }]))) made.write(path, content);
  mkdirSync(join(made.site, "files", next), { recursive: true });
  writeFileSync(join(made.site, "files", next, name), "rpm");
}

async function configure(made: Releasing, from: string | RegExp, to: string): Promise<void> {
  made.write("releases/catalog.yaml", made.read("releases/catalog.yaml").replace(from, to));
  await commit(made);
}

const turnOnFeeds = (made: Releasing, feeds: object = { yum: {} }) =>
  configure(made, /}\s*$/, `,"feeds":${JSON.stringify(feeds)},"authority":"downloads.example.com"}`);

function changeState(made: Releasing, change: object): void {
  const file = join(made.site, "current.json");
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...change }));
}

/** A root of another `relcat trust init`. */
async function otherRoot(): Promise<Buffer> {
  const other = await releasing("simple");
  return readFileSync(join(other.folder, "releases/trust/1.root.json"));
}

const otherTrust = (made: Releasing, now: string) => async () => {
  rmSync(join(made.folder, "releases/trust"), { recursive: true });
  const keys = join(temporaryFolder(), "keys");
  await made.succeed("trust", "init", keys, "--now", now);
  await commit(made);
  return { RELCAT_ONLINE_KEY: readFileSync(join(keys, "online.pem"), "utf8") };
};

interface Refusal {
  status: number;
  says: readonly string[];
  /** @returns variables of the release */
  breaks(made: Releasing): unknown;
}

const refusals: Record<string, Refusal> = {
  "the address is that of the machine itself": {
    status: 2,
    says: ["error[build-other-site] prod would send its readers to http://127.0.0.1:8080"],
    breaks: (made) => configure(made, "https://downloads.example.com", "http://127.0.0.1:8080"),
  },
  "the storage cannot be read": {
    status: 5,
    says: ["error[network] s3://far/current.json cannot be read: "],
    async breaks(made) {
      await configure(
        made,
        /"dir:[^"]*www"/,
        '"s3://far","endpoint":"http://127.0.0.1:1","region":"us-east-1"',
      );
      return { AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "y", AWS_EC2_METADATA_DISABLED: "true" };
    },
  },
  "the site is signed, and the project has ended its signatures": {
    status: 1,
    says: [
      "error[build-unsigned] prod is signed, and this release is not\n  hint: Its readers check signatures: set trust: simple or full in catalog.yaml again.",
    ],
    async breaks(made) {
      await released(made);
      await configure(made, '"trust":"simple"', '"trust":"none"');
    },
  },
  "another publisher is at work": {
    status: 3,
    says: ["error[site-taken] ci@elsewhere is publishing "],
    async breaks(made) {
      await released(made);
      const lease = new Date(Date.now() + 60_000).toISOString().replace("Z", "000Z");
      changeState(made, { state: "publishing", publisher: "ci@elsewhere", lease_until: lease });
    },
  },
  "the site has a longer ledger": {
    status: 3,
    says: [
      "error[site-newer] prod has a ledger of 1 public lines that the one here does not begin with",
      "error[site-newer] prod has the build of commit ",
    ],
    async breaks(made) {
      await released(made);
      await made.git("reset", "-q", "--hard", "HEAD^");
    },
  },
  "the live build is of a newer commit": {
    status: 3,
    says: ["error[site-newer] prod has the build of commit "],
    async breaks(made) {
      await released(made);
      await made.git("commit", "-q", "--allow-empty", "-m", "Later");
      changeState(made, { commit: (await made.git("rev-parse", "HEAD")).trim() });
      await made.git("reset", "-q", "--hard", "HEAD^");
    },
  },
  "the site is held": {
    status: 3,
    says: ["error[site-held] prod has been held since 2026-09-20T10:00:00.000000Z by me: The page is odd."],
    async breaks(made) {
      await released(made);
      const hold = {
        reason: "The page is odd.",
        by: "me",
        since: "2026-09-20T10:00:00.000000Z",
        commit: null,
      };
      changeState(made, { hold });
    },
  },
  "the release has no date": {
    status: 1,
    says: ["error[missing-key] "],
    breaks: (made) => made.write(`releases/${version}/release.yaml`, { version }),
  },
  "git does not know who commits": {
    status: 2,
    says: ["error[commit-refused] git var failed: "],
    async breaks(made) {
      for (const name of ["user.name", "user.email"]) await made.git("config", "--unset", name);
      await made.git("config", "user.useConfigOnly", "true");
      return { GIT_CONFIG_GLOBAL: "/dev/null", EMAIL: undefined, GIT_COMMITTER_EMAIL: undefined };
    },
  },
  "the notes of a live release changed without the day of the correction": {
    status: 1,
    says: ["error[notes-changed] the notes of 26.09.001 differ from those at prod"],
    async breaks(made) {
      await released(made);
      const file = `releases/${version}/release.yaml`;
      made.write(file, { ...JSON.parse(made.read(file)), summary: "Another one." });
      await commit(made);
    },
  },
  "the output folder has files of another program": {
    status: 2,
    says: ["error[folder-not-ours] dist holds files but no build.json"],
    breaks: (made) => made.write("dist/mine.txt", "mine"),
  },
  "the online key is missing": {
    status: 2,
    says: ["error[key-unusable] RELCAT_ONLINE_KEY is not set"],
    breaks: () => ({ RELCAT_ONLINE_KEY: undefined }),
  },
  "the online key is another one": {
    status: 2,
    says: ["error[key-untrusted] the online key "],
    breaks: async () => ({ RELCAT_ONLINE_KEY: (await releasing("simple")).env.RELCAT_ONLINE_KEY }),
  },
  "the program with the online key fails": {
    status: 2,
    says: ["error[key-unusable] the signer false failed"],
    async breaks(made) {
      const root = JSON.parse(made.read("releases/trust/1.root.json")).signed;
      const key = root.keys[root.roles.timestamp.keyids[0]].keyval.public;
      const online = { exec: ["false"], public: Buffer.from(key, "hex").toString("base64") };
      await configure(made, '"simple"', JSON.stringify({ profile: "simple", online }));
    },
  },
  "the site has another root": {
    status: 3,
    says: ["error[object-taken] prod has another root than releases/trust: metadata/1.root.json"],
    async breaks(made) {
      await released(made);
      writeFileSync(join(made.site, "current/metadata/1.root.json"), await otherRoot());
    },
  },
  "the site has a newer root": {
    status: 3,
    says: ["error[object-taken] prod has a newer root than releases/trust: metadata/2.root.json"],
    async breaks(made) {
      await released(made);
      writeFileSync(join(made.site, "current/metadata/2.root.json"), await otherRoot());
    },
  },
  "root and targets have expired": {
    status: 7,
    says: [
      "error[trust-expired] the root metadata in releases/trust expired on 2025-01-01, so clients reject the site\n  hint: Holders of root keys renew it: relcat trust sign --keys KEYS, and commit releases/trust.",
      "error[trust-expired] the targets metadata in releases/trust expired on 2025-01-01, so clients reject the site\n  hint: The holder of the targets key renews it: relcat trust sign --keys KEYS, and commit releases/trust.",
    ],
    breaks: (made) => otherTrust(made, "2024-01-02T00:00:00Z")(),
  },
  "the targets key has not delegated the year": {
    status: 1,
    says: ["error[role-undelegated] no role is responsible for releases-39 yet"],
    breaks: (made) => open(made, "39.10.001"),
  },
  "a feed has no key": {
    status: 1,
    says: ["error[feed-unsigned] the build would have package repositories without a signature"],
    breaks: (made) => turnOnFeeds(made),
  },
  "the key of a feed is missing": {
    status: 2,
    says: ["error[key-unusable] RELCAT_OPENPGP_KEY is not set"],
    async breaks(made) {
      writeFeedKeys(made.folder, [{ key: await feedKey(), state: "signing" }]);
      await turnOnFeeds(made);
    },
  },
  "apt would get another Origin": {
    status: 1,
    says: [
      "error[origin-changed] prod has other names for package managers: Origin of apt is Acme Tools, and was ",
    ],
    async breaks(made) {
      const key = await feedKey();
      writeFeedKeys(made.folder, [{ key, state: "signing" }]);
      const secrets = feedSecrets(key);
      Object.assign(made.env, secrets);
      await turnOnFeeds(made, { apt: {} });
      await released(made);
      await configure(made, '"apt":{}', '"apt":{"origin":"Acme Tools"}');
      return secrets;
    },
  },
  "packslip has no key": {
    status: 1,
    says: ["error[feed-unsigned] releases/trust/packslip.pub is missing, the key of the feed packslip"],
    breaks: (made) => turnOnFeeds(made, { packslip: { artifacts: { xz: {} } } }),
  },
  "an artifact is missing": {
    status: 1,
    says: ["error[artifact-unpublished] 1 artifact of 26.09.001 cannot be downloaded as described: "],
    breaks: (made) => rmSync(join(made.site, "files"), { recursive: true }),
  },
  "a document beside an artifact is missing": {
    status: 1,
    says: [`${rpm.name}.cdx.json is missing`],
    async breaks(made) {
      const sbom = {
        kind: "sbom",
        format: "cyclonedx",
        file: `${rpm.name}.cdx.json`,
        sha256: rpm.sha256,
        size: 3,
      };
      const changed = release(version, [{ ...rpm, documents: [sbom] }]);
      for (const [path, content] of Object.entries(changed)) made.write(path, content);
      await commit(made);
    },
  },
  "an artifact has another size": {
    status: 1,
    says: [`${rpm.name} has 4 bytes, expected 3`],
    breaks: (made) => writeFileSync(join(made.site, "files", version, rpm.name), "rpms"),
  },
};

const state = async (made: Releasing) => [
  everything(made.folder),
  everything(made.site),
  await made.git("log", "--all", "--format=%H"),
  await made.git("status", "--porcelain"),
];

/** By day, each refusal is tried with one of the options, by turns. */
const cases = Object.entries(refusals).map(
  ([name, refusal], index) => [name, refusal, inTurn(["--yes", "--dry-run"], index % 2, 2)] as const,
);

test.for(cases)("nothing is written if %s", async ([, { breaks, status, says }, lasts]) => {
  const made = await committed();
  const env: Env = { ...made.env, ...((await breaks(made)) as Env | undefined) };
  mkdirSync(made.site, { recursive: true });
  const before = await state(made);
  for (const last of lasts) {
    const { exitCode, stdout, stderr } = await relcat(made.folder, ["release", "prod", "--all", last], {
      env,
    });
    expect([exitCode, stdout]).toEqual([status, "[1/6] check"]);
    for (const text of says) expect(stderr).toContain(text);
    expect(stderr.match(/error\[/g)).toHaveLength(says.length);
    expect(await state(made)).toEqual(before);
  }
});

test("all problems are reported at the same time, and the first one decides the status", async () => {
  const made = await committed();
  rmSync(join(made.site, "files"), { recursive: true });
  made.write("dist/mine.txt", "mine");
  const env = { ...made.env, RELCAT_ONLINE_KEY: undefined };
  const { exitCode, stdout } = await relcat(made.folder, ["release", "prod", "--all", "--json"], { env });
  const { steps, problems } = JSON.parse(stdout);
  expect(problems.map(({ code }: { code: string }) => code)).toEqual([
    "folder-not-ours",
    "key-unusable",
    "artifact-unpublished",
  ]);
  expect([exitCode, steps[0]]).toEqual([2, { step: "check", result: "refused", reason: null, output: null }]);
});

test("a dry run of an open release with package feeds passes, and says why each check is made", async () => {
  const made = await committed();
  const key = await feedKey();
  writeFeedKeys(made.folder, [{ key, state: "signing" }]);
  await turnOnFeeds(made);
  const env = { ...made.env, ...feedSecrets(key) };
  const before = await state(made);
  const { exitCode, stdout, stderr } = await relcat(made.folder, ["release", "prod", "--all", "--dry-run"], {
    env,
  });
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("Not in a package feed:")]);
  expect(stdout).toMatch(/^ {2}hold +a rollback keeps newer builds back until someone releases the hold$/m);
  expect(await state(made)).toEqual(before);
  const real = ["release", "prod", "--all", "--yes", "--verify-at", join(made.site, "current")];
  const done = await relcat(made.folder, real, { env });
  expect([done.exitCode, done.stdout]).toEqual([0, expect.stringContaining("\nReleased to prod.")]);
  expect(done.stdout).toMatch(/^\[1\/6\] check\nPassed: address, access, .* and artifacts\.\n\[2\/6\] cut\n/);
});

test("an artifact of an earlier cut that was never published is checked too, and a withdrawn one is not", async () => {
  const made = await committed();
  await made.succeed("cut", version, "--commit");
  open(made, "26.10.001");
  rmSync(join(made.site, "files", version), { recursive: true });
  const refused = await made.at("release", "prod", "26.10.001", "--yes");
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringContaining("error[artifact-unpublished] 1 artifact of 26.09.001 "),
  ]);
  await made.succeed("retract", "1", "--reason", "Never built.", "--yes");
  const { exitCode, stderr } = await made.at("release", "prod", "26.10.001", "--dry-run");
  expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
});

test("a publisher of this machine that was killed does not stop the next release", async () => {
  const made = await committed();
  await released(made);
  const { run } = JSON.parse(readFileSync(join(made.site, "current.json"), "utf8"));
  const { pid } = spawnSync("true");
  const lease = new Date(Date.now() + 60_000).toISOString().replace("Z", "000Z");
  changeState(made, { state: "publishing", run: run.replace(/^\d+/, `${pid}`), lease_until: lease });
  const { exitCode, stderr } = await made.at("release", "prod", "--all", "--dry-run");
  expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
});

test.each([-20, 400])("a clock that is wrong by %i days stops a release before its cut", async (days) => {
  const made = await committed();
  if (days > 0) await released(made);
  const before = await state(made);
  const moved = { env: made.env, ahead: days * 86_400_000 };
  const { exitCode, stdout, stderr } = await relcat(made.folder, ["release", "prod", "--all"], moved);
  expect([exitCode, stdout]).toEqual([2, "[1/6] check"]);
  expect(stderr).toMatch(
    /^error\[clock\] the clock gives \S+Z, which is .*\n {2}hint: Nothing was changed\./,
  );
  expect(await state(made)).toEqual(before);
});
