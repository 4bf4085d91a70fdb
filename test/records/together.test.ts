import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  attestation,
  chart,
  client,
  hex,
  image,
  manifest,
  releaseDocument,
  releases,
  validRelease,
} from "../support/catalog.ts";
import { artifact, project } from "../support/project.ts";

const codesOf = (problems: string[]) => problems.map((problem) => /\[([a-z-]+)\]/.exec(problem)?.[1]).sort();

test("check reports a dozen different faults of a folder in one run", async () => {
  const catalog = releases(validRelease);
  await catalog.cut();
  catalog.write({
    "catalog.yaml": { colour: "red", expected: ["msi"] },
    "stray.txt": "",
    "26.08.01/release.yaml": "",
    "26.08.001/release.yaml": releaseDocument({ date: "2024-08-19", notes: { servr: { fixes: [""] } } }),
    "26.08.001/manifests/chart.json": manifest([chart({ sha256: hex("9") })]),
    "26.08.001/manifests/client.json": manifest([
      client({ attestation: attestation({ key_id: "x", sha256: hex("7") }), gui_only: true, headless: true }),
    ]),
    "26.08.001/manifests/image.json": manifest([image({ exclude_from_api: true, store: undefined })]),
    "26.09.001/release.yaml": "version: 26.09.001\ndate: [",
    "26.09.001/manifests/client.json": '{ "release": "26.09.001", }',
    "next/notes/later.yaml": "component: server\nkind: fix\ntxt: Later.\n",
  });
  expect(codesOf(await catalog.problems())).toEqual([
    "artifact-missing",
    "bytes-changed",
    "checksum-mismatch",
    "file-unexpected",
    "folder-name",
    "json-syntax",
    "key-id-format",
    "missing-key",
    "note-component",
    "note-empty",
    "record-private",
    "release-date",
    "store-required",
    "unknown-key",
    "unknown-key",
    "variant-both",
    "yaml-syntax",
  ]);
});

test("check reports all faults of a document in the order of its lines", async () => {
  const broken = client({
    name: "",
    package_type: "Deb",
    sha256: "x",
    size: -1,
    url: "x",
    min_os_version: "",
  });
  const catalog = releases(validRelease, { "26.08.001/manifests/client.json": manifest([broken], "26.8.1") });
  const places = (await catalog.problems()).map((problem) => problem.slice(0, problem.indexOf("]") + 1));
  expect(places).toEqual([
    "26.08.001/manifests/client.json:2:14 error[version-format]",
    "26.08.001/manifests/client.json:5:15 error[name-format]",
    "26.08.001/manifests/client.json:6:23 error[package-type-format]",
    "26.08.001/manifests/client.json:7:17 error[checksum-format]",
    "26.08.001/manifests/client.json:8:15 error[size-range]",
    "26.08.001/manifests/client.json:9:25 error[os-version-format]",
    "26.08.001/manifests/client.json:30:14 error[url-format]",
  ]);
});

test("check reports the first five hundred problems of a document and counts the others", async () => {
  const numbers = Array.from({ length: 10_000 }, (_, index) => index);
  const catalog = releases(validRelease, {
    "26.08.001/manifests/client.json": { release: "26.08.001", artifacts: numbers },
  });
  const problems = await catalog.problems();
  expect(problems).toHaveLength(501);
  expect(problems.at(-1)).toBe(
    "26.08.001/manifests/client.json:504:5 error[wrong-type] the document has about 9500 more problems\n" +
      "  Correct those before this one, then check again.",
  );
});

test.each(["ledger.jsonl", "catalog.yaml", "exceptions.yaml"])(
  "check reports an empty folder in the place of %s",
  async (name) => {
    const catalog = releases(validRelease, { [name]: undefined });
    mkdirSync(join(catalog.folder, name));
    expect(await catalog.problems()).toEqual([
      `${name}:1:1 error[folder-name] ${name} is a folder, expected a file\n  Remove the folder and restore the file from version control.`,
    ]);
  },
);

test("faults of open releases do not stop a released build", async () => {
  const catalog = releases(validRelease);
  await catalog.cut();
  catalog.write({
    "26.09.001/release.yaml": "version: [",
    "26.09.001/stray.txt": "",
    "26.9.2/release.yaml": "",
    "next/stray.txt": "",
    "next/notes/later.yaml": "text: [",
  });
  expect((await catalog.problems()).length).toBe(5);
  expect(await catalog.problems({ released: true })).toEqual([]);
});

test.each([
  [
    "an object that is not closed",
    "require: {\nbase_url: https://x.example\n",
    "1:10 error[yaml-syntax] not valid YAML: an object without its closing }",
  ],
  [
    "a duplicate key",
    "require: {}\nproduct: A\nproduct: B\n",
    '3:1 error[duplicate-key] the key "product" occurs twice',
  ],
  [
    "a first key that is indented",
    " require: {}\nproduct: A\n",
    "1:2 error[yaml-syntax] not valid YAML: the first key is indented",
  ],
])("%s in catalog.yaml is the only error, at its line", async (_, text, expected) => {
  const made = project({
    "releases/26.08.001/release.yaml": { version: "26.08.001", date: "2026-08-15" },
    "releases/26.08.001/manifests/all.json": {
      release: "26.08.001",
      artifacts: [artifact("tool.msi", "msi", "6"), artifact("other.nix", "appliance", "7")],
    },
    "releases/catalog.yaml": text,
  });
  const { exitCode, stdout } = await made.run("check");
  expect([exitCode, stdout.match(/ (?:error|warning)\[/g)?.length, stdout]).toEqual([
    1,
    1,
    expect.stringContaining(`releases/catalog.yaml:${expected}`),
  ]);
});
