import { join } from "node:path";
import { expect, test } from "vitest";
import { loadCatalog } from "../../pipeline/index.ts";
import { ledgerLine } from "../../pipeline/ledger/ledger.ts";
import { artifact, type Project, project, release } from "../support/project.ts";

const names = [".hidden-26.08.001.rpm", "tool\u202egpj.rpm"];

/** A project whose ledger has lines that today's `cut` would refuse to write. */
async function cutByEarlierVersion(rest: Record<string, string | object> = {}): Promise<Project> {
  const made = project({
    "releases/catalog.yaml": { product: "Example", require: {} },
    ...release(
      "26.08.001",
      names.map((name, index) => artifact(name, "rpm", `${index + 1}`)),
    ),
    ...rest,
  });
  const { identified } = await loadCatalog(join(made.folder, "releases"));
  const at = "2026-08-19T10:00:00.000000Z";
  made.write(
    "releases/ledger.jsonl",
    identified.pending.map((event) => ledgerLine({ ...event, at })).join(""),
  );
  return made;
}

const found = ({ stdout }: { stdout?: unknown }) =>
  String(stdout).match(/(?:error|warning)\[[a-z-]+\]/g) ?? [];

test("names that an earlier version cut are warnings, and nothing once they are withdrawn", async () => {
  const made = await cutByEarlierVersion();
  const checked = await made.succeed("check");
  for (const part of [
    'all.json:1:45 warning[name-format] the file name is ".hidden-26.08.001.rpm", expected a name that does not begin with a dot\n',
    "  hint: It is cut, so the name stays. Withdraw it with relcat retract: web servers do not send such a file.\n",
    "all.json:1:175 warning[name-format] name has the character U+202E, which changes the direction of text, expected none\n",
    "  hint: It is cut, so the name stays. Withdraw it with relcat retract: it can disguise a file name.\n",
  ])
    expect(checked.stdout).toContain(part);
  expect(found(checked)).toEqual(["warning[name-format]", "warning[name-format]"]);
  await made.succeed("plan");
  await made.succeed("build");
  await made.succeed("retract", "1", "2", "--reason", "Bad names.", "--yes");
  expect(found(await made.succeed("check"))).toEqual([]);
  await made.succeed("build");
});

test("the same names are errors in a release that is open, and an exception does not count those that are cut", async () => {
  const imported = "- { rule: name-format, versions: 26.08.001..26.09.001, count: 1 }\n";
  const made = await cutByEarlierVersion({ "releases/exceptions.yaml": imported });
  expect(found(await made.succeed("check"))).toEqual(["warning[name-format]"]);
  for (const [path, content] of Object.entries(
    release(
      "26.09.001",
      names.map((name, index) => artifact(name.replace("08", "09"), "rpm", `${index + 3}`)),
    ),
  ))
    made.write(path, content);
  const checked = await made.run("check");
  expect(checked.exitCode).toBe(1);
  expect(found(checked).filter((each) => each === "error[name-format]")).toHaveLength(2);
  expect(checked.stdout).toContain("error[exceptions-exceeded] 2 problems are name-format");
});
