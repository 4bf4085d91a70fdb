/** @module-tag long */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pathOf } from "../support/artifacts.ts";
import {
  type InspectedProject,
  inspectedProject,
  problemsIn,
  version,
} from "../support/inspected-project.ts";

const deb = "deb/signed-ed25519.deb";
const msi = "msi/signed.msi";

/** Changes of an ingested artifact's entry, by file name. */
async function ingested(
  change: (artifact: Record<string, unknown>) => object = () => ({}),
  rest: object = {},
) {
  const made = inspectedProject([deb, msi], rest);
  await made.succeed("ingest", "--release", version, "out");
  const { file, value } = made.manifest();
  const artifacts = value.artifacts.map((artifact: Record<string, unknown>) => ({
    ...artifact,
    ...(artifact.package_type === "deb" && change(artifact)),
  }));
  made.write(file, { ...value, artifacts });
  return made;
}

const refusedOf = async (made: InspectedProject, ...args: string[]) =>
  (await made.json("plan", ...args)).document.refused as { code: string; message: string }[];

test.each([
  [
    "was not inspected",
    () => ({ inspected: undefined }),
    "inspection-missing",
    "signed-ed25519.deb of 26.11.001 was not inspected, expected inspected in its manifest",
    "Ingest it again where its bytes are, or give them with --artifacts FOLDER.",
  ],
  [
    "was inspected under another policy",
    ({ inspected }: Record<string, unknown>) => ({
      inspected: { ...(inspected as object), policy: "0".repeat(64) },
    }),
    "inspection-outdated",
    "signed-ed25519.deb of 26.11.001 was inspected under another policy, or when others could sign",
    "Ingest it again where its bytes are, or give them with --artifacts FOLDER.",
  ],
  [
    "the policy refuses",
    ({ inspected }: Record<string, unknown>) => ({
      inspected: { ...(inspected as object), verdict: "unsigned" },
    }),
    "policy-refused",
    "signed-ed25519.deb of 26.11.001 is refused by the policy of deb: it is unsigned",
    "Do not ship it: build and sign it again.",
  ],
])("a plan reports an artifact that %s, as cut would", async (_, change, code, message, hint) => {
  const made = await ingested(change);
  const { file } = made.manifest();
  const place = { file, line: 1, column: expect.any(Number) };
  expect(await refusedOf(made)).toEqual([{ code, message, hint, ...place }]);
  const text = await made.run("plan");
  expect(text.stdout).toMatch(/^Records: 1 refused and 2 added\.$/m);
  expect(text.stdout).toContain(`Refused:\n  ${file}:1:`);
  expect(text.stdout).toContain(`  ${code}  ${message}\n     ${hint}`);
  expect(text.stdout).toMatch(/The ledger gets no lines while any artifact is refused\.$/);
  expect(text).toMatchObject({
    exitCode: 1,
    stderr: "Next: correct the refused artifacts, then relcat plan",
  });
  const { stdout: markdown } = await made.run("plan", "--format", "markdown");
  expect(markdown).toContain("## Plan with refused artifacts");
  expect(markdown).toMatch(new RegExp(`^\\| .*${code}.* \\| .*${message.slice(0, 40)}`, "m"));
  const cut = await made.run("cut", "--all");
  expect(problemsIn(cut.stderr)).toEqual([
    expect.stringContaining(`error[${code}] ${message}`),
    `  hint: ${hint}`,
  ]);
  expect(cut.exitCode).toBe(1);
});

describe("with --artifacts", () => {
  test("the plan inspects the files as cut does", async () => {
    const made = await ingested(() => ({ inspected: undefined }));
    expect(await refusedOf(made, "--artifacts", "out")).toEqual([]);
    expect((await made.run("plan", "--artifacts", "out", "--out", "plan.json")).stderr).toBe(
      "Next: relcat cut --plan plan.json --artifacts out",
    );
    expect(problemsIn((await made.run("cut", "--plan", "plan.json")).stderr)[0]).toContain(
      "error[inspection-missing]",
    );
    cpSync(pathOf("deb/signed-attacker.deb"), join(made.folder, "out/signed-ed25519.deb"));
    expect((await refusedOf(made, "--artifacts", "out")).map(({ code }) => code)).toEqual([
      "checksum-mismatch",
    ]);
    expect((await made.run("plan", "--artifacts", "gone")).stderr).toContain(
      "error[folder-missing] there is no folder gone",
    );
    cpSync(pathOf(deb), join(made.folder, "out/signed-ed25519.deb"));
    await made.succeed("cut", "--plan", "plan.json", "--artifacts", "out");
    expect(await refusedOf(made)).toEqual([]);
  });

  test("a plan that was made without is cut if the files are given", async () => {
    const made = await ingested(() => ({ inspected: undefined }));
    expect((await made.run("plan", "--out", "plan.json")).exitCode).toBe(1);
    await made.succeed("cut", "--plan", "plan.json", "--artifacts", "out", "--body", "body.md");
    expect(made.read("body.md")).not.toContain("Refused");
  });
});

test("private records are reported without details", async () => {
  const made = await ingested(() => ({ inspected: undefined, exclude_from_api: true }));
  expect(await refusedOf(made)).toEqual([
    {
      code: "inspection-missing",
      message: "the artifact of a private record does not meet its policy, or was not inspected",
      hint: "relcat cut names it and how to fix it.",
      file: null,
      line: null,
      column: null,
    },
  ]);
  expect((await made.run("cut", "--all")).stderr).toContain(
    "signed-ed25519.deb of 26.11.001 was not inspected",
  );
});

test("an accepted artifact, and one without a policy, is not reported", async () => {
  expect(await refusedOf(await ingested())).toEqual([]);
  expect(await refusedOf(await ingested(() => ({ inspected: undefined }), { signers: [] }))).toEqual([]);
});
