import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { recognise } from "../../../pipeline/intake/ingest/formats/recognise.ts";
import { program, repository, temporaryFolder } from "../../support/run.ts";
import { file, image, ingest, ingestImage, problemsOf, revision } from "./ingesting.ts";

const accepted =
  "Accepted: nix build --json, nix path-info --json, nix derivation show, nix flake metadata --json, Hydra RunCommand JSON, a build from Hydra's REST API, nix-support/image-info.json, GoReleaser dist/artifacts.json, GoReleaser dist/metadata.json, a build output manifest, a .narinfo, an output folder, a file for download. A file that is itself for download needs a rule in ingest: of catalog.yaml.";

test.each([
  ["object.json", 'an object with "apiVersion", "kind", "items", "metadata"'],
  ["list.json", "a list of 3, the first a number"],
  ["empty-list.json", "an empty list"],
  ["empty-object.json", "an empty object"],
  ["document.yaml", 'an object with "kind", "spec"'],
])("%s is refused with what it contains and what is accepted", async (name, seen) => {
  const message = `${seen} is not a build output that relcat recognizes`;
  expect(await problemsOf([`unknown/${name}`])).toEqual([
    `unknown/${name}:1:1 input-unknown: ${message}\n→ ${accepted}`,
  ]);
});

test.each([
  ["syntax.json", "1:13 json-syntax"],
  ["duplicate.json", "1:10 duplicate-key"],
])("%s is unreadable", async (name, problem) => {
  const [found] = await problemsOf([`unknown/${name}`]);
  expect(found).toContain(`unknown/${name}:${problem}: `);
});

test("the form decides, and not the name", async () => {
  const folder = temporaryFolder();
  for (const [from, to] of [
    ["nix-build/array.json", "path-info.json"],
    ["nix-path-info/map.json", "build.txt"],
    ["nix-derivation/full-path.json", "manifest"],
    ["narinfo/unsigned.narinfo", "info"],
  ]) {
    copyFileSync(file(from ?? ""), join(folder, to ?? ""));
  }
  const { manifest } = await ingestImage([folder, image.file]);
  expect(manifest.artifacts[0]?.store).toEqual({ path: image.path, size: image.size });
});

test("an unknown version number changes nothing", () => {
  const text = readFileSync(file("nix-path-info/version-3.json"), "utf8").replaceAll(
    '"version": 3',
    '"version": 9',
  );
  expect(recognise("info.json", Buffer.from(text))).toMatchObject({
    known: { objects: [{ narSize: image.size }] },
  });
});

test("a pipe that the shell opened can be a document", async () => {
  const words = [
    "ingest",
    "--out",
    "-",
    "--config",
    file("catalog.yaml"),
    "--rev",
    revision,
    "--release",
    "26.08.002",
  ];
  const documents = `<(cat ${file("finished/manifest.json")})`;
  const { stdout, exitCode } = await execa(
    "bash",
    ["-c", `"$@" ${documents}`, "-", process.execPath, program, ...words],
    { cwd: repository, reject: false },
  );
  expect([exitCode, JSON.parse(stdout).release]).toEqual([0, "26.08.002"]);
});

test("a JSON file for download needs a rule", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "policy.json"), '{"kind":"Policy"}\n');
  const config = join(folder, "catalog.yaml");
  writeFileSync(config, 'ingest: [{ match: "policy.json", package_type: helm }]\n');
  const { manifest } = await ingest([join(folder, "policy.json")], { config });
  expect(manifest.artifacts[0]).toMatchObject({ name: "policy.json", package_type: "helm", size: 18 });
});

test("text of another encoding is recognized by its name, and a binary file that begins like JSON is for download", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "build.json"), Buffer.from("\ufeff[]"));
  writeFileSync(join(folder, "client.rpm"), Buffer.from([0x7b, 0xff, 0x00]));
  expect((await ingest([join(folder, "client.rpm")])).manifest.artifacts).toHaveLength(1);
  const problems = await problemsOf([join(folder, "build.json")]);
  expect(problems.map((problem) => problem.replace(/\/\S*\/relcat-test-\S*\//, ""))).toMatchInlineSnapshot(`
    [
      "build.json:1:1 file-encoding: the file starts with a byte order mark, expected UTF-8 text
    → Save it as UTF-8 without BOM.",
    ]
  `);
});

test("files of a folder are separate inputs, and those that are left out because of a dot are named", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, ".git"));
  for (const name of [
    "client-x86_64.rpm",
    "sep\u2028arated.rpm",
    ".DS_Store",
    "._client-x86_64.rpm",
    ".git/x.rpm",
  ])
    copyFileSync(file("plain/client-x86_64.rpm"), join(folder, name));
  const { manifest, leftOut } = await ingest([folder]);
  expect(manifest.artifacts.map(({ name }) => name)).toEqual(["client-x86_64.rpm", "sep\u2028arated.rpm"]);
  const names = [".DS_Store", "._client-x86_64.rpm", ".git/"];
  expect(leftOut).toEqual(names.map((name) => `${name} (its name begins with a dot)`));
});

test.each([".hidden.rpm", "..a.rpm", "line\nfeed.rpm", "tool\u202egpj.rpm"])(
  "the package %j in a folder is refused as if it were named itself",
  async (name) => {
    const folder = temporaryFolder();
    for (const each of ["client.rpm", name]) writeFileSync(join(folder, each), each);
    const found = await problemsOf([folder]);
    expect(found.join()).toContain(" name-format: ");
    expect(found).toEqual(await problemsOf([join(folder, name)]));
  },
);

test("a name that is not UTF-8 is reported, in a folder and alone", async () => {
  const folder = temporaryFolder();
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/a`), Buffer.from([0xff]), Buffer.from("b.rpm")]), "x");
  const expected = [
    `file-access: cannot read ${folder}/a\ufffdb.rpm: its name is not UTF-8\n→ Rename it. A pattern of the shell finds it, such as mv a*b.rpm NEW_NAME.`,
  ];
  expect(await problemsOf([folder])).toEqual(expected);
  expect(await problemsOf([`${folder}/a\ufffdb.rpm`])).toEqual(expected);
  expect((await problemsOf([`${folder}/c\ufffdd.rpm`])).join()).toContain("input-missing: there is no file");
});

test("a finished manifest, JSON or YAML, is checked, ordered and written again", async () => {
  const [json, yaml] = await Promise.all([
    ingest(["finished/manifest.json"]),
    ingest(["finished/manifest.yaml"]),
  ]);
  expect(json.text).toBe(yaml.text);
  expect(json.text).toBe(readFileSync(file("finished/manifest.json"), "utf8"));
  const both = await ingest(["finished/manifest.yaml", "finished/manifest.json"], { release: undefined });
  expect(both.text).toBe(json.text);
});

test("a finished manifest of another release, or with mistakes, is refused", async () => {
  expect(await problemsOf(["finished/other-release.json"])).toMatchInlineSnapshot(`
    [
      "finished/other-release.json:2:14 release-mismatch: the release is 26.08.001 here, but 26.08.002 in --release
    → Give only inputs that belong together.",
    ]
  `);
  expect(
    await problemsOf(["finished/other-release.json", "finished/manifest.json"], { release: undefined }),
  ).toMatchInlineSnapshot(`
    [
      "finished/other-release.json:2:14 ingest-conflict: the release is 26.08.001 here, but 26.08.002 in finished/manifest.json:2
    → The inputs of one run must come from one build.",
    ]
  `);
  expect(await problemsOf(["finished/broken.json"])).toMatchInlineSnapshot(`
    [
      "finished/broken.json:4:5 missing-key: the key sha256 is missing in artifacts[0], expected 64 lowercase hexadecimal characters",
      "finished/broken.json:7:7 unknown-key: the key "sha526" is not known in artifacts[0]
    → Did you mean sha256?",
    ]
  `);
});

test("two manifests that describe one file differently are named with the fields", async () => {
  const other = join(temporaryFolder(), "other.json");
  writeFileSync(
    other,
    readFileSync(file("finished/manifest.json"), "utf8").replace('"headless": true', '"headless": false'),
  );
  const problems = await problemsOf(["finished/manifest.json", other]);
  expect(problems.map((problem) => problem.replace(/\/\S*\/relcat-test-\S*\//, ""))).toMatchInlineSnapshot(`
    [
      "finished/manifest.json:4:5 ingest-conflict: client.msi is described differently in other.json:4: headless false ↔ true
    → One file has one description: correct or leave out one of the two.",
    ]
  `);
});

test("an image of a manifest gets the data of Nix inputs", async () => {
  const manifest = join(temporaryFolder(), "manifest.json");
  const { text } = await ingestImage(["nix-build/array.json", image.file]);
  writeFileSync(manifest, text);
  const again = await ingest([manifest, "nix-path-info/map.json"], { revision: undefined });
  expect(again.manifest.artifacts[0]?.store).toEqual({ path: image.path, size: image.size });
});
