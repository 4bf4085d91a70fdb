import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { note, project } from "../support/project.ts";
import { jsonOf, readTree, textOf } from "../support/tree.ts";

const version = "26.08.002";
const advisory = {
  id: "ACME-2026-001",
  cve: ["CVE-2026-12345"],
  severity: "high",
  cvss: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
  affected: "<26.08.002",
};

/** A project whose second release fixes vulnerabilities. @param security of its note */
function made(security: unknown, rest: object = {}) {
  const release = (each: string) => ({
    [`releases/${each}/release.yaml`]: { version: each, date: "2026-08-19" },
    [`releases/${each}/manifests/a.json`]: {
      release: each,
      artifacts: [{ name: `tool_${each}.deb`, package_type: "deb", sha256: "a".repeat(64), size: 1 }],
    },
  });
  return project({
    "releases/catalog.yaml": { product: "Acme", base_url: "https://example.com", require: {} },
    ...release("26.08.001"),
    ...release(version),
    [`releases/${version}/notes/a.yaml`]: note("A crafted packet stopped it.", { refs: ["NW-1"], security }),
    ...rest,
  });
}

test("a described vulnerability is in the notes and in the feeds", async () => {
  const found = made(advisory);
  await found.succeed("build");
  const tree = await readTree(join(found.folder, "dist"));
  const published = { refs: ["NW-1", "CVE-2026-12345"], security: true, advisory };
  expect(jsonOf(tree, `releases/${version}/notes.json`).sections[0].kinds[0].notes).toMatchObject([
    published,
  ]);
  expect(jsonOf(tree, `api/v1/release/${version}/index.json`).notes).toMatchObject([published]);
  expect(textOf(tree, `releases/${version}/notes.md`)).toContain(
    "- **Security ACME-2026-001, high:** A crafted packet stopped it. (NW-1, CVE-2026-12345)",
  );
  expect(textOf(tree, `releases/${version}/index.html`)).toContain(
    '<strong class="security">Security ACME-2026-001, high</strong> A crafted packet',
  );
  expect(textOf(tree, "feed.atom")).toContain(
    '<category term="security"/>\n<category term="ACME-2026-001" label="ACME-2026-001, high"/>\n',
  );
  expect(jsonOf(tree, "feed.json").items.map(({ tags }: { tags?: string[] }) => tags)).toEqual([
    ["security", "ACME-2026-001"],
    undefined,
  ]);
});

test("notes show --format text marks it", async () => {
  const { stdout } = await made(advisory).succeed("notes", "show", version, "--format", "text");
  expect(stdout).toContain("- [Security ACME-2026-001, high] A crafted packet stopped it.");
});

test("a note that only says true is published as before", async () => {
  const found = made(true);
  await found.succeed("build");
  const tree = await readTree(join(found.folder, "dist"));
  const [only] = jsonOf(tree, `releases/${version}/notes.json`).sections[0].kinds[0].notes;
  expect(only).toEqual({ text: "A crafted packet stopped it.", refs: ["NW-1"], security: true });
  expect(textOf(tree, "feed.atom")).not.toContain("<category");
});

test("an open release with the same id does not stop the cut of another one", async () => {
  const second = { "releases/26.08.001/notes/b.yaml": note("Another one.", { security: advisory }) };
  const found = made(advisory, second);
  await found.succeed("cut", version, "--yes");
  const { exitCode, stderr } = await found.run("cut", "26.08.001", "--yes");
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("error[advisory-repeated]")]);
});

describe("check refuses", () => {
  test.each([
    ["an id with a space", { id: "ACME 1" }, "an id such as ACME-2026-001"],
    ["a CVE of lower case", { cve: ["cve-2026-1"] }, "an id such as CVE-2026-12345"],
    ["an unknown severity", { severity: "huge" }, "low, medium, high, critical"],
    ["a score in place of a vector", { cvss: "9.8" }, "a vector such as CVSS:3.1/"],
    ["a wrong bound", { affected: "26.08.002" }, "expected a bound such as <26.08.002"],
    ["a key that it does not know", { score: 9 }, 'the key "score" is not known in security'],
  ])("%s", async (_, change, message) => {
    const { exitCode, stdout } = await made({ ...advisory, ...change }).run("check");
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(message)]);
  });

  test.each(["26.08.001", version])("the same id in a second note, of %s", async (other) => {
    const second = { [`releases/${other}/notes/b.yaml`]: note("Another one.", { security: advisory }) };
    const { exitCode, stdout } = await made(advisory, second).run("check");
    const message = `error[advisory-repeated] two notes have the id ACME-2026-001, one of ${other} and one of ${version}`;
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(message)]);
  });
});
