import { expect, test } from "vitest";
import { platformFolder } from "../../../shared/package-types.ts";
import { elementsOf, linksOf, sectionOf, wordsOf } from "./factory.ts";
import { pageOf, rowsOf, site } from "./site.ts";

test("a platform's page has each type in its highest version", () => {
  const html = pageOf(site, "platforms/KVM/index.html");
  expect(elementsOf(html, "h2").map(wordsOf)).toEqual([
    "Controller image for KVM",
    "Controller image for KVM, UEFI",
  ]);
  const rows = rowsOf(html);
  expect(rows).toHaveLength(2);
  expect(rows[0]).toContain("controller-32.qcow2.gz");
  expect(rows[1]).toContain("efi.qcow2");
  expect(linksOf(html)).toEqual(
    expect.arrayContaining(["../../releases/26.09.001/", "../../releases/26.08.001/"]),
  );
  expect(rowsOf(pageOf(site, "platforms/Debian-and-Ubuntu/index.html")).join()).not.toContain("old.deb");
});

test("a platform with only retracted artifacts keeps its page", () => {
  expect(wordsOf(sectionOf(pageOf(site, "platforms/Xen/index.html"), "main"))).toContain(
    "no artifact for this platform at the moment",
  );
  expect(wordsOf(sectionOf(pageOf(site, "platforms/index.html"), "main"))).toContain("none at the moment");
});

test.each([
  ["KVM", "KVM"],
  ["Debian and Ubuntu", "Debian-and-Ubuntu"],
  ["Hyper-V 2.0", "Hyper-V-2.0"],
  ["../../etc", "..-..-etc"],
  ["Ü/ß", "---"],
])("the folder of %j is %s", (name, folder) => expect(platformFolder(name)).toBe(folder));
