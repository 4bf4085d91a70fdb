/** @module-tag long */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { relcat } from "../support/run.ts";
import { type PublishingProject, publishingProject } from "./support.ts";

describe("relcat status, with sites", () => {
  let project: PublishingProject;
  const row = async (name: string) =>
    (await project.succeed("status")).stdout.split("\n").find((line) => line.startsWith(`${name} `));

  beforeAll(async () => {
    project = await publishingProject();
  });

  test("reports a site without a publish", async () => {
    expect(await row("prod")).toMatch(/^prod +empty +nothing has been published there yet$/);
  });

  test("reports a site that cannot be reached", async () => {
    const file = join(project.folder, "releases/catalog.yaml");
    const before = readFileSync(file, "utf8");
    writeFileSync(
      file,
      `${before}  far: {url: "s3://far/away", endpoint: "http://127.0.0.1:1", region: us-east-1}\n`,
    );
    const env = { AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "y", AWS_EC2_METADATA_DISABLED: "true" };
    const { stdout } = await relcat(project.folder, ["status"], { env });
    expect(stdout).toMatch(/^prod +empty +nothing has been published there yet$/m);
    expect(stdout).toMatch(/^far +unknown +.*s3:\/\/far\/away\/current\.json/m);
    writeFileSync(file, before);
  });

  test("sends no requests with --offline", async () => {
    const { stdout } = await project.succeed("status", "--offline");
    expect(stdout).not.toContain("prod");
    expect(JSON.parse((await project.succeed("status", "--offline", "--json")).stdout)).not.toHaveProperty(
      "sites",
    );
  });

  test("reports the live build, and the end of its signatures", async () => {
    await project.succeed("publish", "prod");
    const build = project.state().build as string;
    expect(await row("prod")).toMatch(
      new RegExp(
        `^prod +${build.slice(0, 12)} +\\d{4}-\\d\\d-\\d\\d +live, timestamp expires in 1 day: relcat publish prod --refresh$`,
      ),
    );
    await project.succeed("sign", "--site", "prod");
    await project.succeed("publish", "prod");
    expect(await row("prod")).toMatch(/ live, timestamp expires in \d days$/);
    const { stdout } = await project.succeed("status", "--json");
    const { sites } = JSON.parse(stdout);
    expect(sites[0]).toMatchObject({
      name: "prod",
      unpublished: 0,
      live: { build, state: "done", hold: null },
    });
    expect(sites[0].ends[0]).toMatchObject({ role: "timestamp" });
    expect(sites[0].ends.map(({ role }: { role: string }) => role)).toContain("snapshot");
  });

  test("reports unpublished ledger lines, and the reason of a hold", async () => {
    await project.succeed("retract", "7", "--reason", "Does not start.", "--yes");
    expect(await row("prod")).toContain(" live, 1 ledger line not published, timestamp expires");
    await project.make();
    await project.succeed("publish", "prod");
    const release = join(project.folder, "releases/26.08.001/release.yaml");
    writeFileSync(release, readFileSync(release, "utf8").replace("**in bulk**.", "**in bulk**. Oops."));
    await project.make();
    await project.succeed("publish", "prod");
    await project.succeed("rollback", "prod", "--reason", "odd page", "--yes");
    expect(await row("prod")).toContain(" live, held: odd page, timestamp expires");
  });

  test("reports a site with another ledger", async () => {
    rmSync(join(project.folder, "releases/ledger.jsonl"));
    expect(await row("prod")).toContain("the ledger here does not begin with its ledger");
  });
});

test("after a rotation of the online key, status says how to sign and publish again, and that works", async () => {
  const project = await publishingProject();
  await project.succeed("sign", "--site", "prod");
  await project.succeed("publish", "prod");
  await project.succeed("trust", "rotate", "online", "--keys", project.keys);
  const again = "relcat build --released --site prod && relcat sign --site prod && relcat publish prod";
  const next = async (ahead = 0) => {
    const { stdout } = await relcat(project.folder, ["status"], { ahead });
    return stdout.split("\n").slice(-2);
  };
  const why = "prod: metadata/timestamp.json is not signed by a key of the newest root in releases/trust";
  expect(await next()).toEqual([`Next: ${again}`, `  ${why}`]);
  // The root of the site ends; a refresh would be refused.
  expect(await next(306 * 86_400_000)).toEqual([`Next: ${again}`, `  ${why}`]);
  const { stdout } = await relcat(project.folder, ["status"], { ahead: 306 * 86_400_000 });
  expect(stdout).toContain(`root expires in 58 days: ${again}\n`);
  project.secrets.RELCAT_ONLINE_KEY = readFileSync(join(project.keys, "online-v2.pem"), "utf8");
  for (const command of again.split(" && ")) await project.succeed(...command.split(" ").slice(1));
  expect(await next()).toEqual(["Next: nothing to do", "  every ledger line is published"]);
});
