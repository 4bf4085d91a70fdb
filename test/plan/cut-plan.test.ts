import { describe, expect, test } from "vitest";
import type { Plan } from "../../pipeline/index.ts";
import { note, type Project, project, release, smallCatalog } from "../support/project.ts";
import { edited, october, settledProject, writeAll } from "./planning.ts";

const at = "2026-10-02T10:00:00.000000Z";

async function plannedProject(...args: string[]): Promise<{ made: Project; plan: Plan; ledger: string }> {
  const made = await settledProject();
  writeAll(made, { ...october, ...edited({ description: "Better" }) });
  await made.succeed("plan", ...args, "--out", "plan.json", "--now", at);
  return { made, plan: JSON.parse(made.read("plan.json")), ledger: made.read("releases/ledger.jsonl") };
}

const recordsOf = (made: Project, out: string) =>
  (
    JSON.parse(made.read(`${out}/api/v1/package/index.json`)) as {
      id: number;
      name: string;
      modified_date: string;
    }[]
  ).map(({ id, name }) => ({ id, name }));

test("the provisional build, the plan, the cut and the released build have the same ids", {
  tags: ["long"],
}, async () => {
  const { made, plan, ledger } = await plannedProject();
  await made.succeed("build", "--out", "before");
  await made.succeed("cut", "--plan", "plan.json");
  await made.succeed("build", "--released", "--out", "after");
  const planned = plan.added.map(({ id, name }) => ({ id, name }));
  expect(planned.map(({ id }) => id)).toEqual([6, 8]);
  for (const out of ["before", "after"])
    expect(recordsOf(made, out)).toEqual(expect.arrayContaining(planned));
  expect(recordsOf(made, "after")).toEqual(recordsOf(made, "before"));
  const written = made.read("releases/ledger.jsonl");
  expect(written.startsWith(ledger)).toBe(true);
  const lines = written
    .slice(ledger.length)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.filter((line) => !line.private)).toEqual(plan.lines);
  expect(lines.map((line) => [line.event, line.id, line.at])).toEqual([
    ["add", 6, at],
    ["add", 7, at],
    ["add", 8, at],
    ["revise", 1, at],
  ]);
});

test("cut --plan writes exactly the plan's lines at any time, and nothing the second time", async () => {
  const { made } = await plannedProject();
  const first = await made.run("cut", "--plan", "plan.json");
  expect(first.exitCode).toBe(0);
  expect(first.stdout).toContain(`New ids, dated ${at}:\n`);
  const ledger = made.read("releases/ledger.jsonl");
  expect(await made.run("cut", "--plan", "plan.json")).toMatchObject({
    exitCode: 0,
    stdout: "Nothing to cut: the ledger already has the lines of this plan.",
  });
  expect(made.read("releases/ledger.jsonl")).toBe(ledger);
});

test("a cut without a plan writes the same lines", async () => {
  const { made, ledger } = await plannedProject();
  await made.succeed("cut", "--plan", "plan.json");
  const byPlan = made.read("releases/ledger.jsonl");
  made.write("releases/ledger.jsonl", ledger);
  await made.succeed("cut", "--all", "--now", at);
  expect(made.read("releases/ledger.jsonl")).toBe(byPlan);
});

test("cut --plan cuts only the versions of the plan", async () => {
  const { made, plan } = await plannedProject("26.10.001");
  expect(plan.versions).toEqual(["26.10.001"]);
  writeAll(made, {
    ...release("26.11.001", [{ name: "later.msi", package_type: "msi", sha256: "9".repeat(64) }]),
  });
  await made.succeed("cut", "--plan", "plan.json");
  expect(made.read("releases/ledger.jsonl")).not.toMatch(/later\.msi|"revise"/);
});

test("--commit names the versions in the subject, also after a first run without a commit", async () => {
  const { made } = await plannedProject();
  await made.succeed("cut", "--plan", "plan.json");
  await made.succeed("cut", "--plan", "plan.json", "--commit");
  expect((await made.git("log", "-1", "--format=%B")).trim()).toBe(
    "Cut 26.10.001 and 1 more\n\n- Cut 26.10.001\n- Revise tool-26.08.001.msi (26.08.001)",
  );
});

describe("a plan that no longer fits is refused with 3, and nothing is written, after", () => {
  const stale = async (change: (made: Project) => unknown): Promise<string> => {
    const { made } = await plannedProject();
    await change(made);
    const ledger = made.read("releases/ledger.jsonl");
    const { exitCode, stderr } = await made.run("cut", "--plan", "plan.json");
    expect(exitCode).toBe(3);
    expect(made.read("releases/ledger.jsonl")).toBe(ledger);
    return stderr;
  };
  const words = (reason: string) =>
    `error[plan-stale] the plan no longer applies: ${reason}\n` +
    "  hint: Nothing was written. Make a new plan (relcat plan --out FILE), review it, and cut that one.";

  test("a change of metadata", async () => {
    expect(await stale((made) => writeAll(made, edited({ description: "Best" })))).toBe(
      words("26.08.001 has other content"),
    );
  });

  test("a new note, which has no ledger line", async () => {
    expect(await stale((made) => made.write("releases/26.10.001/notes/more.yaml", note("More.")))).toBe(
      words("26.10.001 has other content"),
    );
  });

  test("a new artifact in a new release", async () => {
    const added = release("26.12.001", [{ name: "x.msi", package_type: "msi", sha256: "e".repeat(64) }]);
    expect(await stale((made) => writeAll(made, added))).toBe(words("26.12.001 has other content"));
  });

  test("a change of the configuration", async () => {
    const config = { product: "Other", require: {}, ledger: { base: "main" } };
    expect(await stale((made) => made.write("releases/catalog.yaml", config))).toBe(
      words("catalog.yaml has changed"),
    );
  });

  test("a change of the ledger", async () => {
    const retract = (made: Project) => made.succeed("retract", "2", "--reason", "Broken.", "--yes");
    expect(await stale(retract)).toBe(words("the ledger has other lines"));
  });
});

describe("cut --plan", () => {
  const tampered = async (change: (plan: Plan) => unknown) => {
    const { made, plan, ledger } = await plannedProject();
    change(plan);
    made.write("plan.json", plan);
    const { exitCode, stderr } = await made.run("cut", "--plan", "plan.json");
    expect(made.read("releases/ledger.jsonl")).toBe(ledger);
    return { exitCode, stderr };
  };

  test("refuses an edited plan by its digest", async () => {
    const words =
      "error[plan-digest] plan.json was changed since it was planned: its digest does not match its content\n" +
      "  hint: Plan again: relcat plan --out FILE. Plans must not be edited.";
    const later = (plan: Plan) => Object.assign(plan, { at: "2026-10-03T10:00:00.000000Z" });
    const otherId = (plan: Plan) => Object.assign(plan.lines[0] ?? {}, { id: 99 });
    for (const change of [later, otherId])
      expect(await tampered(change)).toEqual({ exitCode: 1, stderr: words });
  });

  test("reports a malformed plan like any document", async () => {
    const { exitCode, stderr } = await tampered((plan) =>
      Object.assign(plan, { schema_version: 2, extra: true }),
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain("error[option-value] schema_version is 2, expected 1\n");
    expect(stderr).toContain('error[unknown-key] the key "extra" is not known\n');
  });

  test("accepts other white space and another order of keys", async () => {
    const { made, plan } = await plannedProject();
    made.write("plan.json", Object.fromEntries(Object.entries(plan).reverse()));
    expect((await made.run("cut", "--plan", "plan.json")).exitCode).toBe(0);
  });

  test("refuses a file that is not a plan", async () => {
    const made = project(smallCatalog);
    made.write("plan.json", "{");
    expect(await made.run("cut", "--plan", "plan.json")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("plan.json:1:2 error[json-syntax]"),
    });
    expect((await made.run("cut", "--plan", "nowhere.json")).exitCode).toBe(2);
  });

  test("refuses additional versions and dates", async () => {
    const { made } = await plannedProject();
    for (const [args, what] of [
      [["26.10.001"], "versions were"],
      [["--now", at], "--now was"],
    ] as const) {
      expect(await made.run("cut", ...args, "--plan", "plan.json")).toMatchObject({
        exitCode: 2,
        stderr:
          `error[usage] a plan already sets the versions and the time of a cut, but ${what} given too\n` +
          "  hint: Leave them out, or cut without --plan.",
      });
    }
  });
});

test("cut --plan refuses whatever cut refuses", async () => {
  const made = project({
    ...smallCatalog,
    "releases/catalog.yaml": { require: {}, expected: ["pkg"], ledger: { base: "main" } },
  });
  await made.succeed("plan", "26.09.001", "--out", "plan.json", "--ledger-base", "none");
  const refused = await made.run("cut", "--plan", "plan.json");
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("error[artifact-missing] 26.09.001 lacks pkg, which catalog.yaml expects");
  expect((await made.run("cut", "--plan", "plan.json", "--allow-incomplete")).exitCode).toBe(0);
});
