import { expect, test } from "vitest";
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
