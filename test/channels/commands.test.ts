import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { project, release } from "../support/project.ts";
import { relcat } from "../support/run.ts";

const catalog = { product: "Acme", require: {}, ledger: { base: "none" } };

/** Two cut releases in a project with two channels. */
async function cutProject(settings: object = { channels: { stable: {}, beta: {} } }) {
  const made = project({ "releases/catalog.yaml": { ...catalog, ...settings } });
  const artifact = (digit: string) => ({
    ...{ name: `tool-${digit}`, package_type: "xz", sha256: digit.repeat(64), size: 9 },
  });
  for (const [version, digit] of [
    ["26.08.001", "1"],
    ["26.08.002", "2"],
  ] as const)
    for (const [path, content] of Object.entries(release(version, [artifact(digit)])))
      made.write(path, content);
  await made.succeed("cut", "--all", "--yes");
  const run = async (...words: string[]) => {
    const { exitCode, stdout, stderr } = await relcat(made.folder, ["channel", ...words]);
    return { exitCode, text: [...stdout.split("\n"), ...stderr.split("\n")].filter((line) => line !== "") };
  };
  const ledger = () => readFileSync(join(made.folder, "releases/ledger.jsonl"), "utf8");
  return { ...made, run, ledger };
}

test("a release is promoted, halted and resumed, and each change is shown before it is written", async () => {
  const { run, ledger } = await cutProject();
  const before = ledger();
  expect(await run("promote", "26.08.002", "beta", "--dry-run")).toEqual({
    exitCode: 0,
    text: [
      "Nothing was written.",
      "To be promoted into beta: 26.08.002",
      "Newest of beta: nothing → 26.08.002.",
      "This is the first change of a channel, so it also promotes 26.08.001 into stable, which has had each release until now. Its newest one is then 26.08.001.",
      "Next: the same without --dry-run",
    ],
  });
  expect(ledger()).toBe(before);
  expect(await run("promote", "26.08.002", "beta", "--yes")).toMatchObject({ exitCode: 0 });
  expect(await run("halt", "beta", "26.08.002", "--reason", "Loses settings.", "--yes")).toEqual({
    exitCode: 0,
    text: [
      "Halted 26.08.002 in beta.",
      "To be halted in beta: 26.08.002",
      "Newest of beta: 26.08.002 → nothing.",
      "Next: commit releases/ledger.jsonl, then relcat build --released",
    ],
  });
  expect((await run("show", "beta")).text).toEqual([
    expect.stringMatching(
      /^26\.08\.002 {2}2\d{3}-\d\d-\d\d {2}halted on 2\d{3}-\d\d-\d\d: Loses settings\.$/,
    ),
  ]);
  // Version and channel may be given in any order.
  expect(await run("resume", "26.08.002", "beta", "--yes")).toMatchObject({ exitCode: 0 });
  expect((await run("list")).text).toEqual([
    "stable (default)  26.08.001  1 release",
    "beta              26.08.002  1 release",
  ]);
  const added = ledger().slice(before.length).trimEnd().split("\n");
  expect(added.map((line) => ({ ...JSON.parse(line), at: "" }))).toEqual([
    { event: "promote", channel: "stable", version: "26.08.001", at: "" },
    { event: "promote", channel: "beta", version: "26.08.002", at: "" },
    { event: "halt", channel: "beta", version: "26.08.002", reason: "Loses settings.", at: "" },
    { event: "resume", channel: "beta", version: "26.08.002", at: "" },
  ]);
});

test("a change that a channel does not allow is refused with a hint, and nothing is written", async () => {
  const { run, ledger, succeed } = await cutProject();
  await run("promote", "26.08.002", "beta", "--yes");
  await run("halt", "beta", "26.08.002", "--reason", "Loses settings.", "--yes");
  await succeed("retract", "26.08.001", "--reason", "Broken.", "--yes");
  const before = ledger();
  const refusals: [words: string[], status: number, message: string][] = [
    [
      ["promote", "26.08.002", "gamma"],
      1,
      'error[channel-unknown] catalog.yaml names no channel "gamma", expected stable, beta',
    ],
    [
      ["promote", "26.08.009", "beta"],
      1,
      "error[version-unknown] 26.08.009 cannot be promoted into beta: it is not cut",
    ],
    [
      ["promote", "26.08.001", "beta"],
      1,
      "error[channel-state] 26.08.001 cannot be promoted into beta: it is withdrawn",
    ],
    [
      ["promote", "26.08.002", "beta"],
      1,
      "error[channel-state] 26.08.002 cannot be promoted into beta: it is in beta already, halted",
    ],
    [
      ["halt", "beta", "26.08.002", "--reason", "Again."],
      1,
      "error[channel-state] 26.08.002 cannot be halted in beta: it is halted in beta already",
    ],
    [
      ["halt", "stable", "26.08.002", "--reason", "x"],
      1,
      "error[channel-state] 26.08.002 cannot be halted in stable: it is not in stable",
    ],
    [
      ["resume", "stable", "26.08.001"],
      1,
      "error[channel-state] 26.08.001 cannot be resumed in stable: it is not halted in stable",
    ],
    [["resume", "stable", "beta"], 2, 'error[usage] neither "stable" nor "beta" is a version'],
    [["halt", "stable", "26.08.002"], 2, "error[usage] the option --reason <text> is missing"],
    [
      ["halt", "stable", "26.08.002", "--reason", "a\nb"],
      2,
      "error[usage] the reason is empty or has line breaks",
    ],
    [
      ["show", "gamma"],
      1,
      'error[channel-unknown] catalog.yaml names no channel "gamma", expected stable, beta',
    ],
  ];
  for (const [words, status, message] of refusals) {
    const { exitCode, text } = await run(...words, ...(words[0] === "show" ? [] : ["--yes"]));
    expect([words, exitCode, text[0], text[1]?.startsWith("  hint: ")]).toEqual([
      words,
      status,
      message,
      true,
    ]);
  }
  expect(ledger()).toBe(before);
});

test("without channels in catalog.yaml no release can be promoted", async () => {
  const { run } = await cutProject({});
  expect((await run("list")).text).toEqual(["catalog.yaml names no channels: each release is offered."]);
  expect(await run("promote", "26.08.001", "stable", "--yes")).toEqual({
    exitCode: 1,
    text: [
      "error[channel-unknown] catalog.yaml names no channels",
      "  hint: Add the default channel and the others to it: channels: { stable: {}, beta: {} }",
    ],
  });
});

test("a channel with releases stays in catalog.yaml", async () => {
  const made = await cutProject();
  await made.run("promote", "26.08.002", "beta", "--yes");
  made.write("releases/catalog.yaml", catalog);
  const { exitCode, stderr } = await relcat(made.folder, ["build", "--released"]);
  expect(exitCode).toBe(1);
  expect(stderr.split("\n")).toContain(
    "releases/catalog.yaml:1:1 error[channel-unknown] releases/ledger.jsonl has releases in the channel beta, which catalog.yaml does not name",
  );
});

test("status and plan show the channels", async () => {
  const made = await cutProject();
  await made.run("promote", "26.08.002", "beta", "--yes");
  const { stdout } = await relcat(made.folder, ["status", "--offline", "--json"]);
  const { channels, in_no_channel } = JSON.parse(stdout);
  expect(channels.map(({ name, newest }: { name: string; newest: string }) => [name, newest])).toEqual([
    ["stable", "26.08.001"],
    ["beta", "26.08.002"],
  ]);
  expect(in_no_channel).toEqual([]);
  const third = { name: "tool-3", package_type: "xz", sha256: "3".repeat(64), size: 9 };
  for (const [path, content] of Object.entries(release("26.08.003", [third]))) made.write(path, content);
  await made.succeed("cut", "26.08.003");
  const later = await relcat(made.folder, ["status", "--offline"]);
  expect(later.stdout).toContain("26.08.003 is in no channel: relcat channel promote 26.08.003 CHANNEL\n");
  const plan = await relcat(made.folder, ["plan"]);
  expect(plan.stdout).toMatch(/^Channels:\n {2}beta +26\.08\.002 +offered$/m);
});

test("uncut takes the channels of a release back with it", async () => {
  const made = await cutProject();
  await made.run("promote", "26.08.001", "stable", "--yes");
  const before = made.ledger();
  const third = { name: "tool-3", package_type: "xz", sha256: "3".repeat(64), size: 9 };
  for (const [path, content] of Object.entries(release("26.08.003", [third]))) made.write(path, content);
  await made.succeed("cut", "26.08.003");
  await made.run("promote", "26.08.003", "beta", "--yes");
  await made.run("halt", "beta", "26.08.003", "--reason", "x", "--yes");
  const other = await relcat(made.folder, ["uncut", "26.08.002"]);
  expect(other.stderr).toContain("26.08.002 is not the last in the ledger: 26.08.003 came after it");
  await made.succeed("uncut", "26.08.003");
  expect(made.ledger()).toBe(before);
  // Lines of other releases have no ids, and stay.
  await made.succeed("uncut", "26.08.002");
  expect((await made.run("list")).text).toEqual([
    "stable (default)  26.08.001  1 release",
    "beta              nothing    0 releases",
  ]);
});
