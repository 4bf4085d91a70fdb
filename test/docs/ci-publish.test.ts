/** @module-tag long */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { release } from "../support/project.ts";
import { relcat, repository, temporaryFolder } from "../support/run.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { type Forge, forge, type Machine } from "./ci-forge.ts";
import { objectOf } from "./live-site.ts";
import { localWeb } from "./local-web.ts";
import { withNextPasted } from "./pasted.ts";

const build = `#!/usr/bin/env bash
set -eu
mkdir -p out
case $2 in
  clients-linux) echo "client $1" >"out/tool-$1.rpm" ;;
  images-kvm) echo "image $1" >"out/tool-$1.msi" ;;
esac
cd out
sha256sum tool-* >SHA256SUMS
`;

const announce = `#!/bin/sh
{ echo "announced $1"; cat; } >>"$HOME/announced"
`;

interface Published extends Forge {
  bucket: S3Fake;
  /** The file of the live site. */
  live(path: string): string | undefined;
  home: string;
}

async function startBucket(): Promise<S3Fake> {
  const bucket = await startS3Fake();
  afterAll(() => bucket.stop());
  bucket.place.bucket = "downloads";
  return bucket;
}

/**
 * A forge whose repository is published to a bucket. Signing jobs get the online key through `key`.
 * @param more variables of its jobs
 */
async function publishingForge(
  more: Readonly<Record<string, string>> = {},
  given?: S3Fake,
): Promise<Published & { key: string }> {
  const bucket = given ?? (await startBucket());
  const home = temporaryFolder();
  const web = await localWeb({ "downloads.example.com": (path) => objectOf(bucket, path) });
  const at = await forge(
    {
      "releases/catalog.yaml": {
        require: {},
        expected: ["rpm", "msi"],
        base_url: "https://downloads.example.com",
        trust: { profile: "simple", valid_days: 7 },
        sites: {
          prod: { url: "s3://downloads/catalog", endpoint: bucket.endpoint, region: "us-east-1" },
        },
        ingest: [
          { match: "*.rpm", package_type: "rpm" },
          { match: "*.msi", package_type: "msi" },
        ],
      },
      "releases/next/notes/.gitkeep": "",
      build,
      announce,
      ...release("26.11.001", [], { summary: "The first." }),
      ...release("26.11.002", [], { summary: "The second." }),
    },
    {
      ...web,
      ...bucket.environment,
      HOME: home,
      SOURCE_DATE_EPOCH: undefined,
      XDG_STATE_HOME: undefined,
      ...more,
    },
  );
  const person = await at.clone();
  await relcat(person.folder, ["trust", "init", join(home, "keys")]);
  await commit(person, "Whose signatures count");
  const key = readFileSync(join(home, "keys/online.pem"), "utf8");
  const live = (path: string) => {
    const page = objectOf(bucket, path);
    return page && new TextDecoder().decode(page.bytes);
  };
  return Object.assign(at, { bucket, live, home, key });
}

async function commit(machine: Machine, message: string): Promise<void> {
  await machine.git("add", ".");
  await machine.git("commit", "--quiet", "--message", message);
  await machine.git("push", "--quiet", "origin", "HEAD:main");
}

/** From the build jobs to a merged request. */
async function merged(at: Forge, version: string): Promise<void> {
  const proposing = await at.clone();
  for (const job of ["clients-linux", "images-kvm"]) {
    const machine = await at.clone();
    await machine.succeed("build", version, job);
    await machine.succeed("ingest", version, job, "out");
    await machine.succeed("upload", job);
    proposing.write(`handed/manifest-${job}/${job}.json`, machine.read(`manifests/${job}.json`));
  }
  await proposing.succeed("release-branch", version);
  await proposing.succeed("collect", version, "handed", join(proposing.folder, "../plan.md"));
  await proposing.succeed("propose-github", version, join(proposing.folder, "../plan.md"));
  const person = await at.clone();
  await person.git("merge", "--quiet", "--no-ff", "--no-edit", `origin/release/${version}`);
  await person.git("push", "--quiet", "origin", "HEAD:main");
}

/** A step of a job that has the key. */
const signing = (machine: Machine, key: string, step: string, ...args: string[]) =>
  machine.sh(
    [
      `export RELCAT_ONLINE_KEY='${key}'`,
      `sh ci/steps/${step}.sh ${args.map((arg) => `'${arg}'`).join(" ")}`,
    ].join("\n"),
  );

async function publishJob(at: Published & { key: string }): Promise<string> {
  const machine = await at.clone();
  const head = await machine.git("rev-parse", "HEAD");
  const { exitCode, stdout, stderr } = await signing(machine, at.key, "publish", head);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  await machine.succeed("announce");
  return stdout;
}

const historyOf = async (at: Published) =>
  JSON.parse((await (await at.clone()).sh("node_modules/.bin/relcat history prod --json")).stdout);

const list = (at: Published): string[] =>
  JSON.parse(at.live("api/v1/package/") ?? "[]")
    .map(({ name }: { name: string }) => name)
    .sort();

const announced = ({ home }: Published) => {
  const file = join(home, "announced");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return text.split("\n").filter((line) => /^announced |^The /.test(line));
};

test("the workflows lead from the build jobs to readers, and renew the signatures on the next day", async () => {
  const at = await publishingForge();
  await merged(at, "26.11.001");
  expect(at.bucket.bucket.objects.get("catalog/files/26.11.001/tool-26.11.001.rpm")?.bytes.toString()).toBe(
    "client 26.11.001\n",
  );
  // The checksums of the build are not for download.
  expect(
    [...at.bucket.bucket.objects.keys()].filter((key) => key.startsWith("catalog/files/")).sort(),
  ).toEqual(["catalog/files/26.11.001/tool-26.11.001.msi", "catalog/files/26.11.001/tool-26.11.001.rpm"]);
  expect(at.live("index.html")).toBeUndefined();
  expect(await publishJob(at)).toMatch(/^Verified prod: 1 release, 2 packages, /m);
  expect(list(at)).toEqual(["tool-26.11.001.msi", "tool-26.11.001.rpm"]);
  expect(announced(at)).toEqual([]);

  // Merged but not approved: the refresh renews the live signatures and publishes nothing else.
  await merged(at, "26.11.002");
  const before = await historyOf(at);
  const refreshed = await signing(await at.clone(), at.key, "refresh");
  expect(refreshed).toMatchObject({ exitCode: 0 });
  expect(list(at)).toEqual(["tool-26.11.001.msi", "tool-26.11.001.rpm"]);
  expect((await historyOf(at)).build).toBe(before.build);

  expect(await publishJob(at)).toMatch(/^Verified prod: 2 releases, 4 packages, /m);
  expect(list(at).length).toBe(4);
  expect(announced(at)).toEqual(["announced 26.11.002", "The second."]);

  // The README's commands for another machine.
  const readme = readFileSync(join(repository, "docs/ci/README.md"), "utf8");
  const [, block = ""] = /## Package inspection[^`]*(?:`[^`\n]+`[^`]*)*```sh\n([^`]+)```/.exec(readme) ?? [];
  const outside = await at.clone();
  expect(await outside.sh(`PATH=$PWD/node_modules/.bin:$PATH; ${block}`)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(
      /^Sampled prod: .*, 4 of 4 downloads .*\nNo policy was applied: releases\/catalog\.yaml names no signers\.$/,
    ),
  });

  // A job that was overtaken, and a checkout that differs from the merged commit.
  const machine = await at.clone();
  const newest = await machine.git("rev-parse", "HEAD");
  const earlier = await machine.git("rev-parse", "HEAD^1");
  expect(await signing(machine, at.key, "publish", earlier)).toMatchObject({
    exitCode: 2,
    stderr: `publish.sh: this checkout is not exactly ${earlier}`,
  });
  machine.write("releases/extra.yaml", "x: 1\n");
  expect(await signing(machine, at.key, "publish", newest)).toMatchObject({ exitCode: 2 });
  const late = await at.clone();
  await late.git("checkout", "--quiet", "--detach", earlier);
  const overtaken = await signing(late, at.key, "publish", earlier);
  expect([overtaken.exitCode, overtaken.stderr]).toEqual([3, expect.stringContaining("error[site-newer]")]);
});

test("each Next line that a job prints works when it is pasted", async () => {
  const bucket = await startBucket();
  // A job's branch has main as its upstream, and is pushed under its own name.
  const pushing = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "push.default", GIT_CONFIG_VALUE_0: "current" };
  const { pasted } = await withNextPasted(async (env) => {
    const at = await publishingForge({ ...env, ...pushing }, bucket);
    await merged(at, "26.11.001");
    return { job: await publishJob(at) };
  }, bucket);
  const handed = (job: string) => `hand manifests/${job}.json over, into releases/26.11.001/manifests/`;
  expect(pasted.map((next) => next.replace(/\S+(?=\/plan\.json)/, "FOLDER"))).toEqual([
    // After ingest, and after upload.
    ...[handed("clients-linux"), handed("clients-linux"), handed("images-kvm"), handed("images-kvm")],
    ...["relcat build", "relcat cut --plan FOLDER/plan.json", "git push, then relcat build --released"],
    ...["relcat build", "relcat sign --site prod", "relcat publish prod", "relcat verify prod"],
  ]);
});

test("signatures are renewed after half of their life, and do not displace kept builds", async () => {
  const at = await publishingForge();
  await merged(at, "26.11.001");
  const person = await at.clone();
  const withKey = (script: string) =>
    person.sh(`set -e; PATH=$PWD/node_modules/.bin:$PATH; export RELCAT_ONLINE_KEY='${at.key}'\n${script}`);
  const publishedDaysAgo = async (days: number) => {
    const now = new Date(Date.now() - days * 86_400_000).toISOString();
    const script = `relcat build --released --site prod; relcat sign --site prod --now ${now}; relcat publish prod`;
    expect(await withKey(script)).toMatchObject({ exitCode: 0 });
  };
  const timestamp = () => JSON.parse(at.live("metadata/timestamp.json") ?? "{}").signed.version;
  await publishedDaysAgo(6);
  expect(timestamp()).toBe(1);
  for (let day = 0; day < 2; day++)
    expect(await signing(await at.clone(), at.key, "refresh")).toMatchObject({ exitCode: 0 });
  expect(timestamp()).toBe(2);
  const { history } = await historyOf(at);
  expect(history.map(({ action }: { action: string }) => action)).toEqual(["refresh", "publish"]);

  // The README's instructions for a failing job.
  const readme = readFileSync(join(repository, "docs/ci/README.md"), "utf8");
  const [, block = ""] = /\*\*If it fails\*\*[\s\S]*?```sh\n([^`]+)```/.exec(readme) ?? [];
  expect(block).toContain("relcat publish prod");
  expect(await withKey(block)).toMatchObject({ exitCode: 0 });
});

test("refresh renews the held build after a rollback, and publish is refused", async () => {
  const at = await publishingForge();
  await merged(at, "26.11.001");
  await publishJob(at);
  const person = await at.clone();
  person.write(
    "releases/catalog.yaml",
    person.read("releases/catalog.yaml").replace("{", '{"product": "Wrong",'),
  );
  await commit(person, "A product");
  await publishJob(at);
  expect(at.live("index.html")).toContain("<title>Wrong");
  const back = await person.sh(
    `RELCAT_ONLINE_KEY='${at.key}' node_modules/.bin/relcat rollback prod --reason "Wrong name." --yes`,
  );
  expect(back.exitCode).toBe(0);
  const refreshed = await signing(await at.clone(), at.key, "refresh");
  expect({ exitCode: refreshed.exitCode, stderr: refreshed.stderr }).toMatchObject({ exitCode: 0 });
  expect(at.live("index.html")).not.toContain("<title>Wrong");
  const machine = await at.clone();
  const refused = await signing(machine, at.key, "publish", await machine.git("rev-parse", "HEAD"));
  expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining("error[site-held]")]);
});

test("a failed refresh names the runbook", async () => {
  const at = await publishingForge();
  await merged(at, "26.11.001");
  await publishJob(at);
  const { exitCode, stderr } = await (await at.clone()).step("refresh");
  expect(exitCode).toBe(2);
  expect(stderr).toContain("error[key-unusable]");
  expect(stderr).toContain(
    "refresh.sh: the signatures were not renewed. docs/ci/README.md explains what to do.",
  );
});

test("the identity of publish is the one that the forge confirms, in a file for its owner only", async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url, headers }, response) => {
    asked.push(url, headers.authorization);
    response.end(JSON.stringify({ value: "header.claims.signature" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => server.close());
  const env = {
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "asking",
    ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token?api-version=2.0`,
    AWS_ID_TOKEN: "header.claims.signature",
  };
  const at = await forge({ "releases/catalog.yaml": "{}\n" }, env);
  const machine = await at.clone();
  for (const where of ["github", "gitlab"]) {
    const file = join(machine.folder, `../${where}`);
    await machine.succeed(`identity-${where}`, file);
    expect(readFileSync(file, "utf8")).toBe("header.claims.signature");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
  expect(asked).toEqual(["/token?api-version=2.0&audience=sts.amazonaws.com", "bearer asking"]);
});
