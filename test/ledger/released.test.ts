import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { complaints, plainRelease, type Releases, releases } from "../support/catalog.ts";
import { change, describeRecord, files } from "./history.ts";

/** 26.08.001 is cut with two records, 26.09.001 is open. */
async function cutAndOpen(): Promise<Releases> {
  const catalog = releases(plainRelease("26.08.001", files("26.08.001", "a", "b")));
  await catalog.cut({}, "2026-08-19T10:00:00Z");
  catalog.write(plainRelease("26.09.001", files("26.09.001", "a")));
  return catalog;
}

interface Row {
  id: number;
  version: string;
  created_date: string;
}

const list = (catalog: Releases): Row[] =>
  JSON.parse(readFileSync(join(catalog.out, "api/v1/package/index.json"), "utf8"));
const ids = (catalog: Releases) => list(catalog).map(({ id }) => id);

test("a released build holds what is cut, names what it leaves out, and is not provisional", async () => {
  const catalog = await cutAndOpen();
  const { site, catalog: loaded } = await catalog.build({ released: true });
  expect(ids(catalog)).toEqual([2, 1]);
  expect(loaded.openVersions).toEqual(["26.09.001"]);
  expect(site.provisional).toEqual([]);
});

test("a plain build holds everything and names what is provisional", async () => {
  const catalog = await cutAndOpen();
  const { site } = await catalog.build();
  expect(ids(catalog)).toEqual([3, 2, 1]);
  expect(list(catalog)[0]?.created_date).toBe("2026-09-15T00:00:00.000000Z");
  expect(site.provisional).toEqual(["26.09.001"]);
});

test("a new artifact of a cut release is left out of a released build and named", async () => {
  const catalog = await cutAndOpen();
  catalog.write(plainRelease("26.08.001", files("26.08.001", "a", "b", "c")));
  const { catalog: loaded } = await catalog.build({ released: true });
  expect(ids(catalog)).toEqual([2, 1]);
  expect(loaded.identified.leftOut.map(({ file }) => file)).toEqual(["c-26.08.001.rpm"]);
});

test("a released build with a version is what cutting that version would make", async () => {
  const catalog = await cutAndOpen();
  await catalog.build({ released: true, versions: ["26.09.001"] });
  const preview = list(catalog).map(({ id, version }) => [id, version]);
  await catalog.cut({ versions: ["26.09.001"] });
  await catalog.build({ released: true });
  expect(list(catalog).map(({ id, version }) => [id, version])).toEqual(preview);
});

test("a changed record of a cut release stops a released build, unless its version comes along", async () => {
  const catalog = await cutAndOpen();
  describeRecord(catalog, "26.08.001", 0, "Better.");
  expect(await complaints(catalog.folder, () => catalog.build({ released: true }))).toEqual([
    '26.08.001/manifests/all.json:4:5 error[content-not-cut] "a-26.08.001.rpm" (id 1) was changed since it was cut\n' +
      "  Make the change permanent (relcat cut 26.08.001), or revert it.",
  ]);
  const { site } = await catalog.build({ released: true, versions: ["26.08.001"] });
  expect(site.provisional).toEqual(["26.08.001"]);
});

test("an open release that cannot even be read does not stop a released build", async () => {
  const catalog = await cutAndOpen();
  catalog.write({ "26.09.001/release.yaml": "{", "26.09.001/manifests/all.json": "{" });
  await catalog.build({ released: true });
  expect(ids(catalog)).toEqual([2, 1]);
});

test("a file that has no place stops a released build if it is in a cut release", async () => {
  const catalog = await cutAndOpen();
  catalog.write({ "26.08.001/manifests/late.jsn": "{}", "26.09.001/manifests/late.jsn": "{}" });
  expect(await complaints(catalog.folder, () => catalog.build({ released: true }))).toEqual([
    "26.08.001/manifests/late.jsn:1:1 error[file-unexpected] the file has no place here, expected release.yaml, notes/*.yaml and manifests/*.json, *.yaml or *.yml\n" +
      "  Move, rename or remove it.",
  ]);
});

test("changed bytes and vanished manifests stop a released build like any other", async () => {
  const catalog = await cutAndOpen();
  change(catalog, "26.08.001", 0, { sha256: "f".repeat(64) });
  const codes = async () =>
    (await complaints(catalog.folder, () => catalog.build({ released: true }))).map(
      (each) => /\[([a-z-]+)\]/.exec(each)?.[1],
    );
  expect(await codes()).toEqual(["bytes-changed"]);
  catalog.write({ "26.08.001": undefined });
  expect(await codes()).toEqual(["record-vanished", "record-vanished"]);
});

test("without a single cut release a released build is an empty catalog", async () => {
  const catalog = releases(plainRelease("26.08.001", files("26.08.001", "a")));
  await catalog.build({ released: true });
  expect(list(catalog)).toEqual([]);
});

test("cutting a version is stopped by nothing that another open release holds, as its preview is not", async () => {
  const catalog = await cutAndOpen();
  catalog.write({ "26.10.001/release.yaml": "{", "26.10.001/manifests/all.json": "{" });
  await catalog.build({ released: true, versions: ["26.09.001"] });
  const preview = readFileSync(join(catalog.out, "api/v1/package/3/index.json"), "utf8");
  await catalog.cut({ versions: ["26.09.001"] });
  await catalog.build({ released: true });
  expect(ids(catalog)).toEqual([3, 2, 1]);
  expect(JSON.parse(preview)).toMatchObject({ id: 3, version: "26.09.001" });
});
