import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Additions } from "../../pipeline/intake/fill/manifest-edit.ts";
import { withAdditions } from "../../pipeline/intake/fill/manifest-edit.ts";

const control = "Package: agent\nDescription: one\n two\n .\n # four\n";
const deb = { type: "deb", arch: "amd64", control } as Additions["package"];

const layouts: Record<string, string> = {
  "comments, blank lines and long lines": `# By hand
release: 26.08.001

artifacts:
  # the first
  - name: a.deb   # a comment
    package_type:   deb

    description: ${"word ".repeat(60)}end # another

  - {name: "b.deb",   size: 1}
# the end
`,
  "a list that is not indented, and no final newline": "artifacts:\n- name: a.deb\n  size: 1",
  "Windows line ends": "artifacts:\r\n    - name: a.deb\r\n      size: 1\r\n",
  "a block of text as the last value":
    "artifacts:\n  - name: a.deb\n    description: |\n      one\n      two\nrelease: x\n",
  "a nested value at the end":
    "artifacts:\n  - name: a.deb\n    store:\n      path: /nix/store/x\n\n\nrelease: x\n",
  "quotes and anchors":
    "release: &v '26.08.001'\nartifacts:\n  - \"name\": 'a.deb'\n    version: *v # same\n",
  "flow style on several lines":
    "artifacts: [\n  { name: a.deb,\n    size: 1 }, # first\n  { name: b.deb }\n]\n",
};

test.each(Object.entries(layouts))("YAML with %s keeps every byte", async (_, text) => {
  const edited = await withAdditions("manifest.yaml", text, new Map([[0, { package: deb }]]));
  const expected = parse(text);
  expected.artifacts[0].package = deb;
  expect(parse(edited)).toEqual(expected);
  const from = [...edited].findIndex((character, at) => character !== text[at]);
  const kept = text.length - from;
  const added = edited.slice(from, edited.length - kept);
  expect(edited).toBe(text.slice(0, from) + added + text.slice(from));
});

test("several members of several artifacts are added", async () => {
  const text = layouts["comments, blank lines and long lines"] ?? "";
  const documents = [{ kind: "signature", format: "helm-prov", file: "b.prov", size: 1, sha256: "0" }];
  const additions = new Map<number, Additions>([
    [0, { package: deb }],
    [1, { package: deb, documents } as Additions],
  ]);
  const { artifacts } = parse(await withAdditions("manifest.yaml", text, additions));
  expect(artifacts[0]).toMatchObject({ name: "a.deb", package: deb });
  expect(artifacts[1]).toEqual({ name: "b.deb", size: 1, package: deb, documents });
});

test.each([
  ["first", "artifacts:\n  - package: { type: deb } # old\n    name: a.deb # keep\n"],
  ["last", "artifacts:\n  - name: a.deb # keep\n    package:\n      type: deb\n"],
  ["in flow style", "artifacts:\n  - { package: { type: deb }, name: a.deb } # keep\n"],
])("a member that is %s is replaced, and nothing else changes", async (_, text) => {
  const edited = await withAdditions("manifest.yaml", text, new Map([[0, { package: deb }]]));
  expect(parse(edited).artifacts).toEqual([{ name: "a.deb", package: deb }]);
  expect(edited).toContain("# keep");
});

test("an entry that is an alias is refused, and a layout that cannot be edited too", async () => {
  const alias = "artifacts:\n  - &a { name: a.deb }\n  - *a\n";
  await expect(withAdditions("m.yaml", alias, new Map([[1, { package: deb }]]))).rejects.toThrow(
    "artifacts[1] of m.yaml is an alias, to which nothing can be added",
  );
  const explicit = "artifacts:\n  - ? name\n    : a.deb\n    ? size\n    : 1\n";
  await expect(withAdditions("m.yaml", explicit, new Map([[0, { package: deb }]]))).rejects.toThrow(
    "m.yaml is written in a way to which nothing can be added",
  );
});
