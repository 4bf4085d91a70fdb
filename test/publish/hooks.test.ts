/** @module-tag long */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { addRelease, type PublishingProject, placeArtifacts, publishingProject } from "./support.ts";

describe("the programs of a site", () => {
  let project: PublishingProject;
  const textIn = (name: string) => {
    const file = join(project.folder, name);
    return existsSync(file) ? readFileSync(file, "utf8") : undefined;
  };
  const urls = () =>
    textIn("purged")
      ?.trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).url);

  beforeAll(async () => {
    project = await publishingProject({
      sites: (folder) => {
        const take = (name: string) =>
          JSON.stringify(["sh", "-c", `test ! -e '${folder}/broken-${name}' && cat > '${folder}/${name}'`]);
        return `  prod: {url: "dir:${folder}/www", purge: {exec: ${take("purged")}}, after_publish: {exec: ${take("announced")}}}\n`;
      },
    });
  });

  test("purge every changed address, with and without its index document", async () => {
    await project.succeed("publish", "prod");
    expect(urls()).toEqual(
      expect.arrayContaining([
        "https://downloads.example.com/catalog/",
        "https://downloads.example.com/catalog/index.html",
        "https://downloads.example.com/catalog/api/v1/package/",
        "https://downloads.example.com/catalog/api/v1/package/index.json",
        "https://downloads.example.com/catalog/metadata/timestamp.json",
      ]),
    );
    expect(urls()?.some((url) => url.includes("/targets/"))).toBe(false);
    // Releases that existed before relcat are not announced.
    expect(textIn("announced")).toBeUndefined();
  });

  test("do not run if nothing changed", async () => {
    rmSync(join(project.folder, "purged"));
    await project.succeed("publish", "prod");
    expect(textIn("purged")).toBeUndefined();
  });

  test("purge withdrawn records", async () => {
    await project.succeed("retract", "7", "--reason", "Does not start.", "--yes");
    await project.make();
    await project.succeed("publish", "prod");
    expect(urls()).toContain("https://downloads.example.com/catalog/api/v1/package/7/index.json");
    expect(urls()).toContain("https://downloads.example.com/catalog/api/v1/package/7/");
    expect(urls()).not.toContain("https://downloads.example.com/catalog/api/v1/package/1/");
  });

  test("run again at the next publish after a failure, which is reported", async () => {
    await addRelease(project, "26.09.001");
    await project.make();
    writeFileSync(join(project.folder, "broken-announced"), "");
    const { exitCode, stderr } = await project.run("publish", "prod");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^error\[hook-failed\] it is published, but after_publish of prod failed: .+\n {2}hint: Run the command again: it continues where this one stopped\.$/,
    );
    expect(textIn("announced")).toBeUndefined();
    rmSync(join(project.folder, "broken-announced"));
    expect(await project.json("publish", "prod")).toMatchObject({ result: "unchanged" });
    expect(JSON.parse(textIn("announced") ?? "")).toEqual({
      schema_version: 1,
      site: "prod",
      build: project.state().build,
      previous: project.state().history[1]?.build,
      commit: null,
      releases: [
        {
          version: "26.09.001",
          date: "2026-09-15",
          summary: null,
          packages: 1,
          url: "https://downloads.example.com/catalog/releases/26.09.001/",
        },
      ],
    });
    rmSync(join(project.folder, "announced"));
    await project.succeed("publish", "prod");
    expect(textIn("announced")).toBeUndefined();
  });
});

test("the programs of a site get the environment without the signing keys", async () => {
  const project = await publishingProject({
    sites: (folder) =>
      `  prod: {url: "dir:${folder}/www", purge: {exec: [sh, -c, "env > '${folder}/environment'"]}}\n`,
    env: {
      ...{ CDN_TOKEN: "secret", SIGNER: "elsewhere" },
      ...{ RELCAT_OPENPGP_KEY: "BEGIN PGP PRIVATE KEY", RELCAT_PACKSLIP_KEY: "BEGIN PRIVATE KEY" },
    },
  });
  const file = join(project.folder, "releases/catalog.yaml");
  const environment = () => readFileSync(join(project.folder, "environment"), "utf8");
  await project.succeed("publish", "prod");
  expect(environment()).toContain("CDN_TOKEN=secret");
  expect(environment()).toContain("SIGNER=elsewhere");
  expect(environment()).not.toMatch(/RELCAT_\w+_KEY|PRIVATE KEY/);

  // The key can have another variable.
  project.secrets.SIGNER = project.secrets.RELCAT_ONLINE_KEY ?? "";
  project.secrets.PACKAGES = "BEGIN PGP PRIVATE KEY";
  project.secrets.LISTS = "BEGIN PRIVATE KEY";
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace(
      /^trust: .*$/m,
      "trust: {profile: simple, online: {env: SIGNER}, openpgp: {key: {env: PACKAGES}}, packslip: {env: LISTS}}",
    ),
  );
  await addRelease(project, "26.09.001");
  await project.make();
  await project.succeed("publish", "prod");
  expect(environment()).not.toMatch(/SIGNER|PACKAGES|LISTS|PRIVATE KEY/);
});

describe("a staging site", () => {
  test("accepts open releases unsigned, and says so", async () => {
    const project = await publishingProject({
      sites: (folder) =>
        `  prod: {url: "dir:${folder}/www"}\n  staging: {url: "dir:${folder}/stage", base_url: "http://127.0.0.1:8089", settles: false}\n`,
    });
    await addRelease(project, "26.09.001", false);
    await project.succeed("build", "--site", "staging", "--out", "preview");
    const stage = join(project.folder, "stage");
    placeArtifacts(join(project.folder, "preview"), stage, "http://127.0.0.1:8089");
    await project.succeed("publish", "staging", "--out", "preview");
    const build = JSON.parse(readFileSync(join(stage, "current/build.json"), "utf8"));
    expect(build).toMatchObject({ base_url: "http://127.0.0.1:8089", provisional: ["26.09.001"] });
    // A staging site does not settle the ledger, so another ledger can follow.
    const ledger = join(project.folder, "releases/ledger.jsonl");
    writeFileSync(ledger, readFileSync(ledger, "utf8").split("\n").slice(0, -2).concat("").join("\n"));
    await project.succeed("build", "--site", "staging", "--out", "preview");
    placeArtifacts(join(project.folder, "preview"), stage, "http://127.0.0.1:8089");
    await project.succeed("publish", "staging", "--out", "preview");
  });
});
