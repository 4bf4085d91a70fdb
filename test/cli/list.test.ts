import { expect, test } from "vitest";
import { cutCatalog, project } from "../support/project.ts";

test("shows the public records that match, in the order of the catalog", async () => {
  const { run } = await cutCatalog();
  expect(await run("list")).toMatchObject({
    exitCode: 0,
    stdout: [
      "5  26.09.001  rpm  any  tool-26.09.001.rpm  http://127.0.0.1:8080/files/26.09.001/tool-26.09.001.rpm",
      "3  26.09.001  msi  any  tool-26.09.001.msi  http://127.0.0.1:8080/files/26.09.001/tool-26.09.001.msi",
      "2  26.08.001  rpm  any  tool-26.08.001.rpm  http://127.0.0.1:8080/files/26.08.001/tool-26.08.001.rpm",
      "1  26.08.001  msi  any  tool-26.08.001.msi  http://127.0.0.1:8080/files/26.08.001/tool-26.08.001.msi",
    ].join("\n"),
    stderr: "4 records.",
  });
});

test("takes the filters and orderings of the catalog's address", async () => {
  const { json } = await cutCatalog();
  const idsOf = async (...terms: string[]) =>
    ((await json("list", ...terms)).document.records as { id: number }[]).map(({ id }) => id);
  expect(await idsOf("package_type=msi", "ordering=id")).toEqual([1, 3]);
  expect(await idsOf("version=latest", "package_type=rpm")).toEqual([5]);
  expect(await idsOf("line=26.08")).toEqual([2, 1]);
  expect(await idsOf("package_type=deb")).toEqual([]);
});

test.each([
  [
    "package_typ=msi",
    "package_typ is no field of a record\n  hint: relcat schema package-record names them; data cannot be filtered by.",
  ],
  ["msi", '"msi" is no filter, expected field=value\n  hint: Such as package_type=deb'],
])("refuses %s", async (term, message) => {
  expect(await project({ "releases/catalog.yaml": "{}" }).run("list", term)).toMatchObject({
    exitCode: 2,
    stderr: `error[usage] ${message}`,
  });
});
