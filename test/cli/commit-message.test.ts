/** @module-tag long */
import { expect, test } from "vitest";
import { artifact, release } from "../support/project.ts";
import { releasing, version } from "../support/releasing.ts";

/** A committed release, and the message and the output of the commit that `release` makes. */
async function released() {
  const made = await releasing("none", { ".gitignore": "/dist/\n.relcat-*\n" });
  made.upload();
  await made.git("init", "-q", "-b", "main");
  for (const [name, value] of [
    ["user.name", "Test"],
    ["user.email", "test@example.com"],
  ] as const)
    await made.git("config", name, value);
  await made.git("add", ".");
  await made.git("commit", "-qm", "Start");
  await made.succeed("cut", version, "--commit");
  const again = async () => {
    const { exitCode, stdout } = await made.succeed("release", "prod", "--all", "--yes");
    const committed = /^Committed as .*$/m.exec(stdout)?.[0];
    expect([exitCode, committed]).toEqual([
      0,
      `Committed as ${await made.git("log", "-1", "--format=%h: %s")}`,
    ]);
    return (await made.git("log", "-1", "--format=%B")).trim();
  };
  return { made, again };
}

const reason = "It does not start on machines without a network.";

test("a release after retract, reinstate and an edit names them in its commit, and prints it", async () => {
  const { made, again } = await released();
  expect(await made.git("log", "-1", "--format=%s")).toBe("Cut 26.09.001");
  await made.succeed("retract", "1", "--reason", "Broken.", "--yes");
  expect(await again()).toBe("Withdraw tool-26.09.001.rpm (26.09.001): Broken.");
  await made.succeed("reinstate", "1", "--yes");
  expect(await again()).toBe("Reinstate tool-26.09.001.rpm (26.09.001)");
  await made.succeed("retract", "1", "--reason", reason, "--yes");
  expect(await again()).toBe(
    "Withdraw tool-26.09.001.rpm (26.09.001): It does not start on machines …\n\n" +
      `- Withdraw tool-26.09.001.rpm (26.09.001): ${reason}`,
  );
  await made.succeed("reinstate", "1", "--yes");
  await again();
  await made.succeed("retract", "1", "--reason", "Broken.", "--yes");
  await made.succeed("reinstate", "1", "--yes");
  await made.succeed("retract", "1", "--reason", "Broken.", "--yes");
  expect(await again()).toBe(
    "Withdraw tool-26.09.001.rpm (26.09.001) and 1 more\n\n" +
      "- Withdraw tool-26.09.001.rpm (26.09.001): Broken.\n" +
      "- Reinstate tool-26.09.001.rpm (26.09.001)",
  );
});

test("several changes are listed in the body, and no private record is named", async () => {
  const { made, again } = await released();
  const hidden = artifact("inside-26.10.001.rpm", "rpm", "5", { exclude_from_api: true });
  for (const [path, content] of Object.entries(release("26.10.001", [hidden]))) made.write(path, content);
  await made.git("add", "releases/26.10.001");
  await made.git("commit", "-qm", "Build 26.10.001");
  await made.succeed("cut", "26.10.001");
  await made.succeed("retract", "1", "2", "--reason", "Broken.", "--yes");
  expect(await again()).toBe(
    "Cut 26.10.001 and 2 more\n\n" +
      "- Cut 26.10.001\n" +
      "- Withdraw tool-26.09.001.rpm (26.09.001): Broken.\n" +
      "- Withdraw a private record (26.10.001): Broken.",
  );
});

test("a halt is named with its whole reason", async () => {
  const { made } = await released();
  const config = JSON.parse(made.read("releases/catalog.yaml"));
  made.write("releases/catalog.yaml", JSON.stringify({ ...config, channels: { stable: {} } }));
  await made.succeed("channel", "halt", "stable", version, "--reason", "Its NAME is empty.", "--yes");
  await made.succeed("cut", version, "--commit");
  expect(await made.git("log", "-1", "--format=%b")).toContain(
    `Halt in stable (${version}): Its NAME is empty.`,
  );
});

test("a cut that was undone is named by the next commit", async () => {
  const { made } = await released();
  await made.succeed("uncut", version, "--ledger-base", "none");
  for (const [path, content] of Object.entries(release("26.10.001", [artifact("b.rpm", "rpm", "6")])))
    made.write(path, content);
  const { stdout } = await made.succeed("cut", "26.10.001", "--commit");
  expect(stdout).toMatch(/\nCommitted as [0-9a-f]+: Undo the cut of 26\.09\.001 and 1 more$/);
});
