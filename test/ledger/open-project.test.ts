import { expect, test } from "vitest";
import { openProject } from "../../pipeline/ledger/open-project.ts";
import { type AuthoredFiles, filesOf } from "../../pipeline/project/authored-files.ts";
import { temporaryFolder } from "../support/run.ts";

const sources = (files: Record<string, string>): AuthoredFiles =>
  filesOf(new Map(Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)])));

const everyPart = {
  "catalog.yaml":
    "brand: { logo: brand/logo.svg }\nfeeds: { yum: {} }\nsigners: [{ file: signers/rpm.asc }]\n",
  "brand/logo.svg": "not a drawing",
  "signers/rpm.asc": "not a certificate",
  "templates/unknown.hbs": "",
  "trust/1.root.json": "{}",
  "ledger.jsonl": "not a line\n",
  "exceptions.yaml": "not a list",
  "stray.txt": "",
};

test("each file of a project is read once", async () => {
  const files = sources(everyPart);
  const read: string[] = [];
  const counting: AuthoredFiles = {
    ...files,
    read(path) {
      read.push(path);
      return files.read(path);
    },
  };
  await openProject(temporaryFolder(), counting);
  const { "stray.txt": _, ...known } = everyPart;
  expect(read.sort()).toEqual(Object.keys(known).sort());
});

test("problems are reported in the order of the parts, and misplaced files apart from them", async () => {
  const project = await openProject("releases", sources(everyPart));
  expect(project.misplaced.map(({ at }) => at?.file)).toEqual(["releases/stray.txt"]);
  const places = project.problems.map(({ at }) => at?.file);
  expect([...new Set(places)]).toEqual([
    "releases/catalog.yaml",
    "releases/brand/logo.svg",
    "releases/templates/unknown.hbs",
    "releases/ledger.jsonl",
    "releases/exceptions.yaml",
  ]);
  expect(project.isLedgerSound).toBe(false);
});

test("an empty project has the configuration of the defaults", async () => {
  const { config, exceptions, problems } = await openProject("releases", sources({}));
  expect(problems).toEqual([]);
  expect(exceptions).toBeUndefined();
  expect(config).toMatchObject({ product: "Releases", templates: [], feedKeys: [], rpmSigners: [] });
  expect(config.trust.rootDigest).toBe("");
});
