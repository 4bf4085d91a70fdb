import { expect, test } from "vitest";
import { requireListedStatus } from "../support/exit-status.ts";
import { cutCatalog } from "../support/project.ts";

const unknown = "26.12.009";

test.each([
  [["cut", unknown]],
  [["plan", unknown, "--ledger-base", "none"]],
  [["build", "--released", "--with", unknown]],
  [["uncut", unknown, "--ledger-base", "none"]],
  [["retract", unknown, "--reason", "Broken."]],
  [["notes", "show", unknown]],
  [["notes", "add", "Mended.", "--component", "server", "--kind", "fix", "--release", unknown]],
  [["ingest", "--release", unknown, "tool.rpm", "--set", "package_type=rpm"]],
])("relcat %j reports an unknown version with the same code and status", async (args) => {
  const made = await cutCatalog();
  made.write("tool.rpm", "bytes");
  const { exitCode, stderr } = await made.run(...args);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(/^error\[version-unknown\] /),
  });
});

test("a run with a status that the command's help does not list fails with advice", () => {
  expect(() => requireListedStatus(["-C", "cut", "schema", "manifest"], 3)).toThrow(
    "relcat -C cut schema manifest exited with 3, but its help lists 0, 2, 70.",
  );
  expect(() => requireListedStatus(["controller", "init", "--database", "x"], 6)).toThrow(/0, 2, 5, 70/);
  expect(() => requireListedStatus(["--json", "plan", "26.09.001", "--detailed-exitcode"], 10)).not.toThrow();
});
