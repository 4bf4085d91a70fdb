/** @module-tag long */
import { describe, expect, test } from "vitest";
import { rpmOf } from "../site/feeds/rpms.ts";
import { artifact, type Files, release } from "../support/project.ts";
import { commitAll, planOf, settledProject } from "./planning.ts";

const rpm = (name: string, version: string, digit: string) =>
  artifact(name, "rpm", digit, { size: 12, package: rpmOf({ version }) });
const deb = (name: string, version: string, digit: string, rest: object = {}) => {
  const control = `Package: agent\nVersion: ${version}\nArchitecture: amd64\nDescription: An agent`;
  return artifact(name, "deb", digit, {
    size: 12,
    package: { type: "deb", arch: "amd64", control },
    operating_system: "linux",
    ...rest,
  });
};

const catalog = (feeds: object): Files => ({
  ".gitignore": ".relcat-*\n",
  "releases/catalog.yaml": { product: "Acme", require: {}, ledger: { base: "main" }, feeds },
});
const feeds = { yum: {}, apt: { suites: { jammy: "22.04", noble: "24.04" } } };
const first = release("26.08.001", [
  rpm("agent-1.rpm", "1", "a"),
  artifact("old.rpm", "rpm", "b"),
  deb("agent_1.deb", "1", "c", { max_os_version: "22.04" }),
]);

test("a plan names what each feed gains and loses", async () => {
  const made = await settledProject({ ...catalog(feeds), ...first });
  await made.succeed("retract", "2", "--reason", "Bad.", "--yes", "--now", "2026-09-21T10:00:00Z");
  const second = release("26.09.001", [rpm("agent-2.rpm", "2", "d"), deb("agent_2.deb", "2", "e")]);
  for (const [path, content] of Object.entries(second)) made.write(path, content);
  const plan = await planOf(made);
  const changes = plan.feeds.map(({ feed, index, added, removed }) => [
    `${feed} ${index}`,
    added.map(({ file }) => file),
    removed.map(({ file }) => file),
  ]);
  expect(changes).toEqual([
    ["apt jammy", ["agent_2.deb"], []],
    ["apt noble", ["agent_2.deb"], []],
    ["yum stable", ["agent-2.rpm"], ["agent-1.rpm"]],
  ]);
  const { stdout } = await made.succeed("plan");
  expect(stdout).toContain(
    [
      "Package feeds:",
      "  apt  jammy   gains agent_2.deb",
      "  apt  noble   gains agent_2.deb",
      "  yum  stable  gains agent-2.rpm, loses agent-1.rpm",
      "",
    ].join("\n"),
  );
});

test("a feed that is switched off loses everything", async () => {
  const made = await settledProject({ ...catalog(feeds), ...first });
  for (const [path, content] of Object.entries(catalog({ yum: {} }))) made.write(path, content);
  await commitAll(made);
  expect((await planOf(made)).feeds).toMatchObject([
    { feed: "apt", index: "jammy", added: [], removed: [{ id: 1, file: "agent_1.deb" }] },
  ]);
});

const filling = "relcat ingest --fill 26.08.001 --artifacts FOLDER";

test("status names the files that a feed leaves out, why, and the command that adds them", async () => {
  const made = await settledProject({ ...catalog(feeds), ...first });
  const { stdout } = await made.succeed("status");
  expect(stdout).toContain(
    `\nthe yum feed leaves out old.rpm (its manifest does not contain the metadata of the package): ${filling}\n`,
  );
  const { document } = await made.json("status");
  expect(document.not_in_feeds).toEqual([
    {
      feed: "yum",
      id: 3,
      version: "26.08.001",
      file: "old.rpm",
      reason: "its manifest does not contain the metadata of the package",
      command: filling,
    },
  ]);
});

const newer = release("26.09.001", [
  artifact("new.rpm", "rpm", "d"),
  artifact("newer.rpm", "rpm", "e", { size: 12 }),
  artifact("hidden.rpm", "rpm", "f", { exclude_from_api: true }),
  deb("agent_2.deb", "2", "9", { min_os_version: "26.04" }),
]);

describe("a package that a feed leaves out", () => {
  const unread = "its manifest does not contain the metadata of the package";
  const made = async (config: object = {}) => {
    const project = await settledProject({ ...catalog(feeds), ...first });
    for (const [path, content] of Object.entries({ ...catalog(feeds), ...newer }))
      project.write(path, path.endsWith("catalog.yaml") ? { ...(content as object), ...config } : content);
    return project;
  };

  test("is a warning of check, with its place and how to repair it", async () => {
    const { stdout, exitCode } = await (await made()).run("check", "--no-base");
    expect(exitCode).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "releases/26.08.001/manifests/all.json:1:550 warning[feed-left-out] old.rpm is not in the yum feed, because its manifest does not contain the metadata of the package
          1 | …ggests":[],"supplements":[],"enhances":[],"files":[]}},{"name":"old.rpm","package_type":"rpm","sha256":"bbbbbb…
            |                                                         ^
        hint: relcat ingest --fill 26.08.001 --artifacts FOLDER adds it, or says why the package has none.
      releases/26.09.001/manifests:1:1 warning[artifact-dropped] 26.09.001 has no counterpart of "agent-1.rpm" of 26.08.001
        hint: In 26.08.001 the manifest all.json brought it: run that job, and ingest its files. If the product no longer has it, cut 26.09.001 as it is; the next release is compared with it.
      releases/26.09.001/manifests/all.json:1:153 warning[feed-left-out] newer.rpm is not in the yum feed, because its manifest does not contain the metadata of the package; the same applies to new.rpm
          1 | …dddddddddddddddddddddddddddddddddddddddddddddddddddd"},{"name":"newer.rpm","package_type":"rpm","sha256":"eeee…
            |                                                         ^
        hint: relcat ingest --fill 26.09.001 --artifacts FOLDER adds it, or says why the package has none.
      releases/26.09.001/manifests/all.json:1:424 warning[feed-left-out] agent_2.deb is not in the apt feed, because no suite of catalog.yaml takes it
          1 | …ffffffffffffffffffffffffffff","exclude_from_api":true},{"name":"agent_2.deb","package_type":"deb","sha256":"99…
            |                                                         ^
        hint: Add a suite to feeds.apt.suites in catalog.yaml that takes it, or correct its OS versions.
      4 warnings in 2 releases, 7 artifacts (1 private), 0 notes for the next release"
    `);
  });

  test("is listed by plan and named by build, unless it is private", async () => {
    const project = await made();
    const { stdout } = await project.succeed("plan");
    expect(stdout).toContain(
      [
        "Not in a package feed:",
        "  apt  26.09.001  agent_2.deb  no suite of catalog.yaml takes it",
        `  yum  26.09.001  newer.rpm    ${unread}`,
        `  yum  26.09.001  new.rpm      ${unread}`,
        "",
      ].join("\n"),
    );
    const { stderr } = await project.succeed("build");
    expect(stderr).toContain("Left out of the apt feed: agent_2.deb. relcat status says why.\n");
    expect(stderr).toContain(
      "Left out of the yum feed: newer.rpm, new.rpm and old.rpm. relcat status says why.\n",
    );
    const { document } = await project.json("build");
    expect(document.left_out).toMatchObject({
      feeds: expect.arrayContaining([{ feed: "yum", id: 3, file: "old.rpm", reason: unread }]),
    });
  });

  test("is confirmed before a cut, by --yes or by a plan", async () => {
    const project = await made();
    const refused = await project.run("cut", "26.09.001");
    const dropped = /^.*warning\[artifact-dropped\].*\n.*\n/;
    expect([refused.exitCode, refused.stderr.replace(dropped, "")]).toEqual([
      2,
      [
        "Not in a package feed:",
        "  apt  26.09.001  agent_2.deb  no suite of catalog.yaml takes it",
        `  yum  26.09.001  newer.rpm    ${unread}`,
        `  yum  26.09.001  new.rpm      ${unread}`,
        "error[not-confirmed] there is no terminal to confirm this on; nothing was changed",
        "  hint: Run the command again with --yes.",
      ].join("\n"),
    ]);
    expect((await project.succeed("cut", "26.09.001", "--dry-run")).stderr).toContain(
      "Not in a package feed:\n",
    );
    await project.succeed("plan", "26.09.001", "--out", "plan.json");
    expect(await project.run("cut", "--plan", "plan.json")).toMatchObject({ exitCode: 0 });
    // Nothing is left to decide about what is cut.
    expect((await project.succeed("cut", "--all")).stderr).not.toContain("Not in a package feed");
    await (await made()).succeed("cut", "26.09.001", "--yes");
  });

  test("is an error of every command if require.feeds names its format, unless it is cut", async () => {
    const project = await made({ require: { feeds: ["rpm"] } });
    const expected = `error[feed-left-out] newer.rpm is not in the yum feed, because ${unread}; the same applies to new.rpm\n`;
    for (const command of [["check"], ["plan"], ["cut", "--all", "--yes"]]) {
      const { exitCode, stdout, stderr } = await project.run(...command);
      expect([exitCode, stdout + stderr], command.join(" ")).toEqual([1, expect.stringContaining(expected)]);
    }
    expect(await project.run("build")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^releases\/catalog\.yaml:\d+:\d+ error\[feed-left-out\] new\.rpm is not in the yum feed, because its manifest/m,
      ),
    });
    await project.succeed("build", "--released");
  });

  test("cannot be required by a feed that is off", async () => {
    const { stdout } = await (await made({ require: { feeds: ["helm"] } })).run("check", "--no-base");
    expect(stdout).toContain("error[option-value] require.feeds names helm, but feeds: has no helm\n");
    expect(stdout).toContain(
      "  hint: Switch it on with feeds: { helm: {} }, or take helm out of require.feeds.\n",
    );
  });
});
