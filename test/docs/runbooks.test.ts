/** @module-tag long */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCleartextMessage, readKey, readPrivateKey } from "openpgp";
import { describe, expect, test } from "vitest";
import { movedClock } from "../support/moved-clock.ts";
import { repository } from "../support/run.ts";
import { type Json, keyOfPem, metaOf, signedBy } from "../verify/support.ts";
import { blocksOf, liveWorld, placed, world } from "./live-site.ts";
import type { Page } from "./local-web.ts";

const folder = join(repository, "docs/runbooks");
const host = "downloads.example.com";

type Live = Awaited<ReturnType<typeof liveWorld>>;

/** A runbook's commands; below a heading, if one is given. */
const commands = (name: string, heading?: string) =>
  blocksOf(`docs/runbooks/${name}`)
    .filter(({ language, headings }) => language === "sh" && (!heading || headings.includes(heading)))
    .map(({ text }) => text)
    .join("\n");

const signing = ({ clone, key }: Live, cwd = clone) => ({ cwd, env: { RELCAT_ONLINE_KEY: key } });

/** Runs commands of a runbook. */
const follow = (at: Live, script: string, cwd?: string) => at.follow(script, signing(at, cwd));

/** Runs other commands: preparations and checks. */
const run = (at: Live, script: string, cwd?: string) => at.succeed(script, signing(at, cwd));

/** Ids that the live list offers. */
const offered = (at: Live): number[] =>
  (JSON.parse(at.live(host, "api/v1/package/index.json") ?? "[]") as { id: number }[])
    .map(({ id }) => id)
    .sort((a, b) => a - b);

const stateOf = async (at: Live) => JSON.parse((await run(at, "relcat history prod --json")).stdout);

const rename = (name: string) =>
  `sed -i 's/^product: .*/product: ${name}/' releases/catalog.yaml; git commit -qam "${name}"; git push -q
relcat build --released --site prod && relcat sign --site prod && relcat publish prod`;

test("retract-within-minutes: the package leaves the list, and its page has the reason", {
  tags: ["long"],
}, async () => {
  const at = await liveWorld();
  expect(offered(at)).toEqual([1, 2, 3, 4]);
  const { stdout } = await follow(at, commands("retract-within-minutes.md"));
  expect(offered(at)).toEqual([1, 2, 3]);
  expect(at.live(host, "api/v1/package/4/index.json")).toBeUndefined();
  const gone = {
    detail: "This package was withdrawn.",
    id: 4,
    name: "tool-26.09.001.rpm",
    reason: "Does not start on ARM.",
    replaced_by: 2,
  };
  expect(JSON.parse(at.live(host, "api/v1/package/4/gone.json") ?? "")).toEqual(gone);
  expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toEqual(gone);
  expect(
    JSON.parse(at.live(host, "api/v1/latest.json") ?? "").packages.map(({ id }: { id: number }) => id),
  ).toEqual([3, 2]);
  // Users with the file get a warning, and main contains the published lines.
  const verified = await at.sh("relcat verify out/tool-26.09.001.rpm --from prod", { cwd: at.clone });
  expect(verified.exitCode).toBe(1);
  expect(verified.stderr).toContain("which was withdrawn: Does not start on ARM.");
  const mark = (await stateOf(at)).ledger_high.sha256;
  expect((await run(at, "git show origin/main:releases/ledger.jsonl | sha256sum")).stdout).toContain(mark);
});

test("halt-a-release: one command takes the release out of every list of its channel, and rollback does not bring it back", {
  tags: ["long"],
}, async () => {
  const at = await liveWorld();
  await run(
    at,
    `echo 'channels: { stable: {}, beta: {} }' >>releases/catalog.yaml; git commit -qam Channels; git push -q
relcat build --released --site prod && relcat sign --site prod && relcat publish prod`,
  );
  const latest = () => at.live(host, "api/v1/latest.txt");
  expect(latest()).toBe("26.09.001\n");
  const { stdout } = await follow(at, commands("halt-a-release.md"));
  expect(stdout).toContain("Verified ");
  expect(latest()).toBe("26.08.001\n");
  // The runbook's own requests come last.
  const { version, releases: rows } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  expect([version, rows[0].version, rows[0].halted.reason]).toEqual([
    ...["26.08.001", "26.09.001", "Loses settings on update."],
  ]);
  expect(at.live(host, "releases/26.09.001/index.html")).toContain("<bdi>Loses settings on update.</bdi>");
  expect(offered(at)).toEqual([1, 2, 3, 4]);
  const mark = (await stateOf(at)).ledger_high.sha256;
  expect((await run(at, "git show origin/main:releases/ledger.jsonl | sha256sum")).stdout).toContain(mark);
  const behind = await at.sh("relcat rollback prod --reason x --yes", signing(at));
  expect([behind.exitCode, behind.stderr]).toEqual([
    1,
    expect.stringContaining(
      "error[build-halted] that build offers what was halted since: 26.09.001 in stable",
    ),
  ]);
  // The way that its hint names takes the halt to the earlier commit.
  const commit = (await run(at, "git log --format=%h --grep=^Channels")).stdout.trim();
  await run(
    at,
    `relcat build --released --site prod --at ${commit} --out earlier && relcat rollback prod --out earlier --reason x --yes`,
  );
  expect([latest(), (await stateOf(at)).hold.reason]).toEqual(["26.08.001\n", "x"]);
});

test("hotfix-on-an-old-line: 26.08 has its fix, and latest is still 26.09", { tags: ["long"] }, async () => {
  const at = await liveWorld();
  await follow(at, commands("hotfix-on-an-old-line.md"));
  expect(offered(at)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(readFileSync(join(at.clone, "hotfix.rpm"), "utf8")).toBe("rpm of 26.08.002");
  expect(readFileSync(join(at.clone, "newest.rpm"), "utf8")).toBe("rpm of 26.09.001");
  expect(JSON.parse(at.live(host, "api/v1/latest.json") ?? "").version).toBe("26.09.001");
  expect(at.live(host, "releases/26.08.002/index.html")).toContain("Starts on ARM again.");
});

test("rollback: restores and holds the last build, allows a withdrawal, ends the hold, and refuses to undo a withdrawal", {
  tags: ["long"],
}, async () => {
  const at = await liveWorld();
  await run(at, rename("Wrong"));
  const title = () => /<title>([^<]*)</.exec(at.live(host, "index.html") ?? "")?.[1];
  expect(title()).toContain("Wrong");
  await follow(at, commands("rollback.md", "Do"));
  expect(title()).not.toContain("Wrong");
  expect(await stateOf(at)).toMatchObject({ hold: { reason: "Pages are blank since the new template." } });
  const refused = await at.sh(
    "relcat build --released --site prod; relcat sign --site prod; relcat publish prod",
    {
      cwd: at.clone,
      env: { RELCAT_ONLINE_KEY: at.key },
    },
  );
  expect(refused.exitCode).toBe(3);
  expect(refused.stderr).toContain("error[site-held]");

  await follow(at, commands("rollback.md", "Withdraw something meanwhile"));
  expect(offered(at)).toEqual([1, 2, 3]);
  expect(title()).not.toContain("Wrong");
  await follow(at, commands("rollback.md", "See that it worked"));

  await run(
    at,
    `sed -i 's/^product: .*/product: Mended/' releases/catalog.yaml; git commit -qam Mended; git push -q`,
  );
  await follow(at, commands("rollback.md", "End the hold"));
  expect(title()).toContain("Mended");
  expect(offered(at)).toEqual([1, 2, 3]);
  expect(await stateOf(at)).toMatchObject({ hold: null });

  const bad = (await stateOf(at)).history.at(-2).build.slice(0, 12);
  const behind = await at.sh(`relcat rollback prod --to ${bad} --reason x --yes`, { cwd: at.clone });
  expect(behind.stderr).toContain(
    "error[build-retracted] that build offers what was withdrawn since: package 4",
  );
  await follow(at, commands("rollback.md", "Go back to a build from before a withdrawal"));
  expect(title()).not.toContain("Mended");
  expect(offered(at)).toEqual([1, 2, 3]);
  await follow(at, commands("rollback.md", "See that it worked"));
});

test("stale-cdn: purges everything, and readers see the live build", { tags: ["long"] }, async () => {
  const at = await liveWorld();
  const purged = join(at.home, "purged");
  const old = new Map<string, Page | undefined>();
  at.edge = (path, page) => {
    const isPurged = existsSync(purged) && readFileSync(purged, "utf8").includes(`"https://${host}/${path}"`);
    if (isPurged) old.delete(path);
    else if (!old.has(path) && page) old.set(path, page);
    return isPurged ? page : (old.get(path) ?? page);
  };
  await run(at, "relcat verify prod");
  await run(
    at,
    `mkdir ci; echo 'require("fs").writeFileSync(process.env.HOME + "/purged", require("fs").readFileSync(0));' >ci/purge.js
git add ci; git commit -qm Purge; relcat retract 4 --reason "Does not start." --yes; git commit -qam Retract; git push -q
relcat build --released --site prod && relcat sign --site prod && relcat publish prod`,
  );
  expect(offered(at)).toContain(4);
  const { stdout } = await follow(at, commands("stale-cdn.md"));
  expect(stdout).toMatch(/^prod has the build [0-9a-f]{64}, expected [0-9a-f]{64}\.$/m);
  expect(stdout).toMatch(/^Verified prod: /m);
  expect(offered(at)).toEqual([1, 2, 3]);
});

test("leaked-online-key: clients refuse signatures of the old key", { tags: ["long"] }, async () => {
  const at = await liveWorld();
  const thief = join(at.folder, "thief");
  cpSync(at.clone, thief, { recursive: true });
  await follow(at, commands("leaked-online-key.md"));

  const own = await at.sh("relcat sign --site prod", { cwd: at.clone, env: { RELCAT_ONLINE_KEY: at.key } });
  expect(own.stderr).toContain("error[key-untrusted]");
  await run(
    at,
    `sed -i 's/^product: .*/product: Trojan/' releases/catalog.yaml
relcat build --released --site prod && relcat sign --site prod
cp -r dist "$HOME/forged"; rm "$HOME/forged/metadata/signed.json"; cp ../../srv/downloads/current/metadata/2.root.json "$HOME/forged/metadata/"`,
    thief,
  );
  const forged = join(at.home, "forged");
  const verify = (state: string) =>
    at.sh(`relcat verify ~/forged --root releases/trust/1.root.json --trust-dir ~/${state}`, {
      cwd: at.clone,
    });
  expect(await verify("fresh")).toMatchObject({
    exitCode: 6,
    stderr: expect.stringContaining("error[site-tampered]"),
  });
  // A new client without the new root accepts the old one, as the runbook says.
  rmSync(join(forged, "metadata/2.root.json"));
  expect((await verify("never-there")).exitCode).toBe(0);
});

describe("repository-key", { tags: ["long"] }, () => {
  /** A site whose apt repository one key signs. */
  async function signedRepository(): Promise<Live> {
    const at = await liveWorld();
    await run(
      at,
      `echo 'feeds: { apt: { suites: { jammy: "22.04" } } }' >>releases/catalog.yaml
relcat trust init ~/relcat-keys --openpgp; git add releases; git commit -qm "A repository key"; git push -q
export RELCAT_OPENPGP_KEY="$(cat ~/relcat-keys/openpgp.asc)"
relcat build --released --site prod && relcat sign --site prod && relcat publish prod`,
    );
    return at;
  }

  /** A part of the runbook for someone who has the first key. */
  const script = (heading: string) => `export RELCAT_OPENPGP_KEY="$(cat ~/relcat-keys/openpgp.asc)"
${commands("repository-key.md", heading)}
${commands("repository-key.md", "See that it worked")}`;

  const keyIn = (at: Live, file: string) =>
    readPrivateKey({ armoredKey: readFileSync(join(at.home, "relcat-keys", file), "utf8") });

  test("a leaked key signs nothing any more", async () => {
    const at = await signedRepository();
    const before = at.live(host, "dists/jammy/InRelease");
    const { stdout } = await follow(at, script("The key leaked"));
    const fingerprint = (await keyIn(at, "openpgp-v2.asc")).getFingerprint().toUpperCase();
    expect(stdout).toContain(`the OpenPGP key ${fingerprint} has been signing since `);
    const after = at.live(host, "dists/jammy/InRelease") ?? "";
    expect(after).not.toBe(before);
    expect((await readCleartextMessage({ cleartextMessage: after })).getSigningKeyIDs()).toHaveLength(1);
    const keys = at.live(host, "keys/example-tool.asc") ?? "";
    expect((await readKey({ armoredKey: keys })).getFingerprint().toUpperCase()).toBe(fingerprint);
  });

  test("a key that ends is replaced in three steps", async () => {
    const at = await signedRepository();
    await run(at, script("The key expires"));
    const states = JSON.parse(readFileSync(join(at.clone, "releases/trust/openpgp/keys.json"), "utf8")).keys;
    expect(states.map(({ state }: { state: string }) => state)).toEqual(["retired", "signing"]);
    const cleartextMessage = at.live(host, "dists/jammy/InRelease") ?? "";
    const [id] = (await readCleartextMessage({ cleartextMessage })).getSigningKeyIDs();
    expect(id).toEqual((await keyIn(at, "openpgp-v2.asc")).getKeyID());
  });
});

test("lost-root-key: clients accept the new root and refuse the old one", { tags: ["long"] }, async () => {
  const at = await liveWorld();
  const old = readFileSync(join(at.clone, "releases/trust/1.root.json"));
  const making = commands("lost-root-key.md");
  const hasty = await at.sh(making.replace(/^rm .*$/m, ""), { cwd: at.clone });
  expect([hasty.exitCode, hasty.stderr]).toEqual([
    3,
    expect.stringMatching(
      /^error\[object-taken\] .*\/metadata\/1[.](root|targets)[.]json exists with other bytes$/m,
    ),
  ]);
  await follow(at, placed(making.slice(making.indexOf("\nrm ")), at));
  writeFileSync(join(at.home, "old.json"), old);
  const before = await at.sh(`relcat verify https://${host} --root ~/old.json --trust-dir ~/before`, {
    cwd: at.clone,
  });
  expect(before.exitCode).toBe(6);
  const { stdout } = await run(at, "relcat trust list");
  expect(stdout).toContain("root       version 1");
});

test("lost-root-key: in a bucket, the old root is removed by hand", { tags: ["long"] }, async () => {
  const at = await world("bucket");
  const yaml = blocksOf("docs/publishing.md").find(
    ({ text, headings }) => text.startsWith("base_url") && headings.includes("A bucket"),
  );
  await at.succeed(`git clone -q https://git.example.com/releases.git && cd releases
cat >>releases/catalog.yaml <<'END'
${placed(yaml?.text ?? "", at)}trust: simple
END
relcat trust init ~/relcat-keys; git add .; git commit -qm Trust; git push -q
export RELCAT_ONLINE_KEY="$(cat ~/relcat-keys/online.pem)"
relcat build --released --site prod && relcat sign --site prod && relcat publish prod`);
  const cwd = join(at.folder, "releases");
  const blocks = commands("lost-root-key.md", "Do").replace(/^rm .*$/m, "");
  const refused = await at.sh(blocks, { cwd });
  expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining("error[object-taken]")]);
  const { objects } = at.bucket.bucket;
  for (const key of objects.keys()) if (/metadata\/\d+\.(root|targets)\.json$/.test(key)) objects.delete(key);
  await at.succeed(
    `export RELCAT_ONLINE_KEY="$(cat ~/new-relcat-keys/online.pem)"; relcat publish prod; relcat verify prod`,
    { cwd },
  );
});

describe("lost-ledger-or-laptop", { tags: ["long"] }, () => {
  test("a fresh clone publishes again, and finds the right ledger", async () => {
    const at = await liveWorld();
    rmSync(at.clone, { recursive: true });
    await follow(at, commands("lost-ledger-or-laptop.md", "The laptop of a publisher"), at.folder);
    const another = join(at.folder, "another");
    const ledger = readFileSync(join(another, "releases/ledger.jsonl"), "utf8");
    await run(at, rename("Renamed"), another);
    expect(at.live(host, "index.html")).toContain("<title>Renamed");

    writeFileSync(join(another, "releases/ledger.jsonl"), ledger.slice(0, -9));
    const damaged = await at.sh("relcat check", { cwd: another });
    expect(damaged.stdout).toContain("error[ledger-");
    const { stdout } = await follow(at, commands("lost-ledger-or-laptop.md", "The ledger"), another);
    const [site, main] = stdout.split("\n");
    expect(main).toBe(`${site}  -`);
    expect(readFileSync(join(another, "releases/ledger.jsonl"), "utf8")).toBe(ledger);
    await follow(at, commands("lost-ledger-or-laptop.md", "See that it worked"), another);
  });

  test("another laptop finishes a publish that was interrupted", async () => {
    const at = await liveWorld();
    const file = join(at.srv, "downloads/current.json");
    const state = JSON.parse(readFileSync(file, "utf8"));
    const ended = new Date(Date.now() - 1000).toISOString().replace("Z", "000Z");
    const half = { ...state, state: "publishing", publisher: "bob@laptop", run: "1-0", lease_until: ended };
    writeFileSync(file, JSON.stringify(half));
    await follow(at, commands("lost-ledger-or-laptop.md", "The laptop of a publisher"), at.folder);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ state: "done" });
  });
});

test("wrong-clock: a renewal replaces what was signed while the clock was ahead", {
  tags: ["long"],
}, async () => {
  const at = await liveWorld();
  const NODE_OPTIONS = movedClock(40 * 24 * 3_600_000).nodeArgs.join(" ");
  const ahead = { cwd: at.clone, env: { RELCAT_ONLINE_KEY: at.key, NODE_OPTIONS } };
  await at.succeed("relcat publish prod --refresh", ahead);
  expect(await at.sh("relcat verify prod", { cwd: at.clone })).toMatchObject({ exitCode: 2 });
  const { stdout } = await follow(at, commands("wrong-clock.md"));
  expect(stdout).toMatch(/^Verified prod: /m);
});

describe("every runbook", () => {
  const names = readdirSync(folder).filter((name) => name !== "README.md");
  const textOf = (name: string) => readFileSync(join(folder, name), "utf8");

  test.each(names)("%s has its parts: symptoms, steps, checks and remaining effects", (name) => {
    const text = textOf(name);
    const parts = [
      /\*\*You notice\*\*/,
      /^(## Do|```sh)$/m,
      /^## See that it worked$/m,
      /^## What it does not undo$/m,
    ];
    const places = parts.map((part) => text.search(part));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(text.split("\n").length).toBeLessThan(80);
  });

  test("is in the table, and links only to existing files", () => {
    expect(names.filter((name) => !textOf("README.md").includes(`(${name})`))).toEqual([]);
    for (const name of [...names, "README.md"])
      for (const [, link = ""] of textOf(name).matchAll(/\]\(([^)#:]+)\)/g))
        expect(existsSync(join(folder, link)), `${name} → ${link}`).toBe(true);
  });
});

test("version-numbers-exhausted: clients that saw the highest number recover", {
  tags: ["long"],
}, async () => {
  const at = await liveWorld();
  const metadata = join(at.srv, "downloads/current/metadata");
  const highest = Number.MAX_SAFE_INTEGER;
  const key = keyOfPem(at.key);
  const forge = (name: string, as: string, edit: (signed: Json) => void): Buffer => {
    const { signed } = JSON.parse(readFileSync(join(metadata, name), "utf8"));
    edit(signed);
    const bytes = Buffer.from(`${JSON.stringify(signedBy({ ...signed, version: highest }, [key]))}\n`);
    writeFileSync(join(metadata, as), bytes);
    return bytes;
  };
  const { signed } = JSON.parse(readFileSync(join(metadata, "timestamp.json"), "utf8"));
  const live = signed.meta["snapshot.json"].version;
  const snapshot = forge(`${live}.snapshot.json`, `${highest}.snapshot.json`, () => {});
  forge("timestamp.json", "timestamp.json", (timestamp) => {
    timestamp.meta["snapshot.json"] = metaOf(highest, snapshot);
  });
  await run(at, "relcat verify prod");

  await run(
    at,
    `sed -i 's/^product: .*/product: Renamed/' releases/catalog.yaml; git commit -qam Renamed; git push -q
relcat build --released --site prod`,
  );
  const refused = await at.sh("relcat sign --site prod", {
    cwd: at.clone,
    env: { RELCAT_ONLINE_KEY: at.key },
  });
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringMatching(
      /^error\[versions-exhausted\] the live (snapshot|timestamp) metadata has the version 9007199254740991, and no number is left above it\n {2}hint: .*docs\/runbooks\/version-numbers-exhausted\.md$/,
    ),
  ]);
  await follow(at, commands("version-numbers-exhausted.md"));
  expect((await run(at, "relcat verify prod")).stdout).toMatch(/^Verified prod: /m);
});
