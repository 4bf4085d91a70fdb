import { expect, test } from "vitest";
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
