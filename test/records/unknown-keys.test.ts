import { expect, test } from "vitest";
import { releases, validRelease } from "../support/catalog.ts";

/** Writes a document with one misspelled key. @returns its problems */
async function said(path: string, text: string): Promise<string[]> {
  const problems = await releases(validRelease, { [path]: text }).problems();
  return problems
    .filter((problem) => problem.includes("[unknown-key]"))
    .map((problem) => problem.replace(/^\S+ /, ""));
}

const release = (...lines: string[]) => ["version: 26.08.001", "date: 2026-08-19", ...lines, ""].join("\n");
const manifest = (...lines: string[]) =>
  [
    "release: 26.08.001",
    "artifacts:",
    "- name: a.rpm",
    "  package_type: rpm",
    `  sha256: "${"a".repeat(64)}"`,
    ...lines,
    "",
  ].join("\n");

/** Location of the key, document, message. */
const cases: [string, string, string, string][] = [
  ["at the top", "catalog.yaml", "artifact_ulr: https://example.com", "Did you mean artifact_url?"],
  ["in an object", "catalog.yaml", "wire: { vendr: maker }", "Did you mean vendor?"],
  [
    "in a table's row",
    "catalog.yaml",
    "package_types: { flatpak: { operatingSystem: linux } }",
    "Did you mean operating_system?",
  ],
  [
    "in a list's entry",
    "catalog.yaml",
    'ingest: [{ match: "*.deb", package_type: deb, headles: true }]',
    "Did you mean headless?",
  ],
  [
    "in an entry that may also be text",
    "catalog.yaml",
    'expected: [{ package_type: deb, form: "26.08" }]',
    "Did you mean from?",
  ],
  ["in a release", "26.08.001/release.yaml", release("sumary: Text"), "Did you mean summary?"],
  [
    "in an inline note, which may also be text",
    "26.08.001/release.yaml",
    release("notes: { server: { fixes: [{ text: Mended., securty: true }] } }"),
    "Did you mean security?",
  ],
  [
    "in a fragment",
    "26.08.001/notes/a.yaml",
    "component: server\nkind: fix\ntext: Mended.\nref: [a]\n",
    "Did you mean refs?",
  ],
  ["in a manifest", "26.08.001/manifests/a.yaml", "releese: 26.08.001", "Did you mean release?"],
  ["in an artifact", "26.08.001/manifests/a.yaml", manifest("  Size: 3"), "Did you mean size?"],
  [
    "four levels down",
    "26.08.001/manifests/a.yaml",
    manifest("  vendor: { image: { dervation: x } }"),
    "Did you mean derivation?",
  ],
  [
    "six levels down",
    "26.08.001/manifests/a.yaml",
    manifest("  attestation: { file_signatures: [{ name: a, signature: { finger_print: x } }] }"),
    "Did you mean fingerprint?",
  ],
];

test.each(cases)("the hint for an unknown key %s names a similar one", async (_, path, text, hint) => {
  const [first] = await said(path, text);
  expect(first?.split("\n  ")[1]).toBe(hint);
});

test("a short key is similar only with one different letter", async () => {
  expect(await said("26.08.001/release.yaml", release("rev: {}"))).toEqual([
    'error[unknown-key] the key "rev" is not known\n  Did you mean revs?',
  ]);
  expect(await said("26.08.001/release.yaml", release("id: 1"))).toEqual([
    'error[unknown-key] the key "id" is not known\n  Known keys: version, date, corrected, opened, revs, summary, notes.',
  ]);
});

test("a key with control characters is shown escaped", async () => {
  expect(await said("26.08.001/release.yaml", release('"a\\u001b[31m\\u009b1m\\u202e": 1'))).toEqual([
    'error[unknown-key] the key "a\\u001b[31m\\u009b1m\\u202e" is not known\n' +
      "  Known keys: version, date, corrected, opened, revs, summary, notes.",
  ]);
});
