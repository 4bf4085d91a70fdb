import { expect, test } from "vitest";
import { decideRebase } from "../../pipeline/ledger/rebase.ts";
import {
  commitAll,
  cutBranch,
  cutRelease,
  ledgerText,
  settledProject,
  soundLedger,
} from "../ledger/rebase/branches.ts";
import type { Project } from "../support/project.ts";

const early = "2026-09-02T10:00:00Z";
const late = "2026-09-03T10:00:00Z";
const after = "2026-09-04T10:00:00Z";

const channel = (made: Project, now: string, ...words: string[]) =>
  made.succeed("channel", ...words, "--yes", "--no-base", "--now", now);

const channelCatalog = {
  ...{ product: "Example", require: {}, ledger: { base: "main" } },
  channels: { stable: {}, beta: {} },
};

/** Each line of a channel, as `event channel version`. */
const changes = (made: Project): string[] =>
  soundLedger(made).events.flatMap((event) =>
    "channel" in event ? [`${event.event} ${event.channel} ${event.version}`] : [],
  );

/** 26.08.001 and 26.09.001 are cut on main, and channels are in use; a branch is checked out. */
async function channelProject() {
  const made = await settledProject();
  made.write("releases/catalog.yaml", {
    ...{ product: "Example", require: {}, ledger: { base: "main" }, channels: { stable: {}, beta: {} } },
  });
  // Main has it, so that it stays in stable.
  await channel(made, early, "promote", "26.08.001", "beta");
  await cutRelease(made, "26.09.001", "3", early);
  await channel(made, early, "promote", "26.09.001", "beta");
  await commitAll(made, "Use channels");
  await made.git("switch", "--quiet", "--create", "ours");
  return made;
}

/** Changes on main, while `ours` is checked out. */
async function onMain(made: Project, change: () => Promise<unknown>) {
  await made.git("switch", "--quiet", "main");
  await change();
  await commitAll(made, "Change main");
  await made.git("switch", "--quiet", "ours");
}

test("changes of channels follow those of the other branch, with new dates", async () => {
  const made = await channelProject();
  await channel(made, early, "promote", "26.09.001", "stable");
  await cutRelease(made, "26.09.002", "5", early);
  await channel(made, early, "promote", "26.09.002", "beta");
  await commitAll(made, "Promote");
  await onMain(made, () => channel(made, late, "halt", "beta", "26.09.001", "--reason", "Loses settings."));
  await made.succeed("ledger", "rebase", "--now", after);
  expect(ledgerText(made).startsWith(await made.git("show", "main:releases/ledger.jsonl"))).toBe(true);
  expect(changes(made)).toEqual([
    "promote stable 26.08.001",
    "promote beta 26.08.001",
    "promote beta 26.09.001",
    "halt beta 26.09.001",
    "promote stable 26.09.001",
    "promote beta 26.09.002",
  ]);
});

test("a change that the other branch made or made obsolete is left out, and named", async () => {
  const made = await channelProject();
  await channel(made, early, "promote", "26.09.001", "stable");
  await channel(made, late, "halt", "beta", "26.09.001", "--reason", "Ours.");
  await channel(made, late, "halt", "stable", "26.08.001", "--reason", "Ours.");
  await channel(made, late, "resume", "stable", "26.08.001");
  await commitAll(made, "Ours");
  await onMain(made, async () => {
    await channel(made, early, "halt", "beta", "26.09.001", "--reason", "Theirs.");
    await made.succeed("retract", "26.08.001", "--reason", "Broken.", "--yes", "--now", late);
  });
  const { stderr, exitCode } = await made.run("ledger", "rebase", "--now", after);
  expect(exitCode).toBe(0);
  expect(stderr.split("\n").slice(0, 2)).toEqual([
    "Left out: our halt of 26.09.001 in beta, which main has already, or no longer allows.",
    "Left out: our resume of 26.08.001 in stable, which main has already, or no longer allows.",
  ]);
  expect(changes(made).slice(3)).toEqual([
    "halt beta 26.09.001",
    "promote stable 26.09.001",
    "halt stable 26.08.001",
  ]);
});

test("the first change of a channel is not merged with a release that it did not know", async () => {
  const made = await settledProject();
  made.write("releases/catalog.yaml", channelCatalog);
  await commitAll(made, "Name channels");
  await cutBranch(made, "ours", "26.09.002", "4", early);
  await channel(made, early, "promote", "26.09.002", "beta");
  await commitAll(made, "Use channels");
  const before = ledgerText(made);
  await onMain(made, () => cutRelease(made, "26.09.001", "3", late));
  const { stderr, exitCode } = await made.run("ledger", "rebase", "--now", after);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /error\[rebase-conflict\] our promote of 26\.08\.001 is the first change of a channel, and main has cut 26\.09\.001, which would be in no channel\n[\s\S]*hint: Take main's ledger, cut our releases again, then run the relcat channel commands again\.$/,
  );
  expect(ledgerText(made)).toBe(before);
});

test("our resume answers our halt only, and the base says which releases stay in the default channel", async () => {
  const made = await settledProject();
  made.write("releases/catalog.yaml", channelCatalog);
  await cutRelease(made, "26.09.001", "3", early);
  await made.git("switch", "--quiet", "--create", "ours");
  await channel(made, late, "halt", "stable", "26.08.001", "--reason", "False alarm.");
  await channel(made, after, "resume", "stable", "26.08.001");
  await commitAll(made, "Ours");
  await onMain(made, async () => {
    // Nothing says that it is published, so it is in beta only.
    const words = ["promote", "26.09.001", "beta"];
    made.write("releases/catalog.yaml", { ...channelCatalog, ledger: { base: "none" } });
    await channel(made, early, ...words);
    await channel(made, early, "halt", "stable", "26.08.001", "--reason", "Theirs.");
    made.write("releases/catalog.yaml", channelCatalog);
  });
  await made.succeed("ledger", "rebase", "--now", after);
  expect(changes(made)).toEqual([
    ...["promote stable 26.08.001", "promote beta 26.09.001", "halt stable 26.08.001"],
  ]);
});

test("a release that the other branch took back cannot be promoted", async () => {
  const made = await channelProject();
  const theirs = ledgerText(made).split("\n").slice(0, 4).join("\n");
  await channel(made, late, "promote", "26.09.001", "stable");
  const ours = ledgerText(made);
  const side = (name: string, text: string) => ({ name, file: name, text });
  const shared = ours.replace(/[^\n]*\n$/, "");
  const other = '{"event":"reserve","next_id":9,"at":"2026-09-03T10:00:00.000000Z"}\n';
  const sides = { onto: side("main", `${theirs}\n${other}`), ours: side("ours", ours), shared };
  expect(() => decideRebase(sides, ours, () => after)).toThrow(
    "our promote in stable names 26.09.001, which main does not have",
  );
});
