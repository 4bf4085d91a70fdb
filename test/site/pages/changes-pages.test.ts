import { expect, test } from "vitest";
import { attributeOf, elementsOf, packageOf, releaseOf, retractedOf, wordsOf } from "./factory.ts";
import { pageOf, releases, site, siteMapOf, siteOf } from "./site.ts";

const listAfter = (whole: string, title: string): string[] => {
  const html = whole.slice(0, whole.indexOf("</main>"));
  const words = elementsOf(html).filter(({ tagName }) => tagName === "h3" || tagName === "li");
  const from = words.findIndex((element) => wordsOf(element) === title);
  const to = words.findIndex(({ tagName }, index) => index > from && tagName === "h3");
  return words.slice(from + 1, to < 0 ? undefined : to).map((item) => wordsOf(item).trim());
};

const named = (version: string, names: readonly string[], first = 1) =>
  names.map((name, index) => {
    const package_type = name.slice(name.lastIndexOf(".") + 1);
    return packageOf(first + index, { name: name.replace("V", version), package_type });
  });

test("a release's changes are its notes, new files and removed files", () => {
  const html = pageOf(
    siteOf([
      releaseOf("26.09.001", {
        summary: "Read *this*.",
        packages: named("26.09.001", ["client-V.deb", "client-V.pkg"], 11),
      }),
      releaseOf("26.08.001", { packages: named("26.08.001", ["client-V.deb", "client-V.msi"]) }),
    ]),
    "changes/26.09.001/index.html",
  );
  expect(listAfter(html, "New")).toEqual(["client-26.09.001.pkg (1.5 KiB)"]);
  expect(listAfter(html, "Removed")).toEqual(["client-26.08.001.msi (1.5 KiB)"]);
  const text = wordsOf(elementsOf(html, "main")[0] as never);
  expect(text).toContain("1 artifact in both releases");
  expect(text).toContain("Read this.");
  const links = elementsOf(html, "a").flatMap((link) => attributeOf(link, "href") ?? []);
  expect(links).toEqual(
    expect.arrayContaining(["../../releases/26.08.001/", "../26.08.001/", "../?to=26.09.001"]),
  );
});

test("files are paired by type, architecture and variant, with size and package version on both sides", () => {
  const control = (version: string) =>
    `Package: client\nVersion: ${version}\nArchitecture: arm64\nMaintainer: A <a@example.com>\nDescription: Client`;
  const deb = (id: number, version: string, size: number) => ({
    ...packageOf(id, { name: `client_${version}_arm64.deb`, package_type: "deb", size }),
    metadata: { type: "deb" as const, arch: "arm64", control: control(version) },
  });
  const html = pageOf(
    siteOf([
      releaseOf("26.09.001", {
        packages: [
          deb(12, "2.1.0~rc1-1", 2048),
          packageOf(11, { name: "setup.msi", package_type: "msi", headless: true }),
          packageOf(13, { name: "appliance.qcow2" }),
        ],
      }),
      releaseOf("26.08.001", {
        packages: [
          packageOf(3, { name: "image-1.9.qcow2" }),
          packageOf(2, { name: "installer.msi", package_type: "msi" }),
          deb(1, "1:1.9-2", 1024),
        ],
      }),
    ]),
    "changes/26.09.001/index.html",
  );
  expect(listAfter(html, "New")).toEqual(["setup.msi (1.5 KiB)"]);
  expect(listAfter(html, "Removed")).toEqual(["installer.msi (1.5 KiB)"]);
  expect(listAfter(html, "In both releases")).toEqual([
    "client_2.1.0~rc1-1_arm64.deb (2.1.0~rc1-1, 2.0 KiB)before: ← client_1:1.9-2_arm64.deb (1:1.9-2, 1.0 KiB)",
    "appliance.qcow2 (1.5 KiB)before: ← image-1.9.qcow2 (1.5 KiB)",
  ]);
});

test("a page of changes lists 100 pairs, and counts the others", () => {
  const packages = (version: string) =>
    named(
      version,
      Array.from({ length: 103 }, (_, at) => `tool-${"x".repeat(at)}-V.deb`),
    );
  const html = pageOf(
    siteOf(["26.09.001", "26.08.001"].map((version) => releaseOf(version, { packages: packages(version) }))),
    "changes/26.09.001/index.html",
  );
  expect(listAfter(html, "In both releases")).toHaveLength(100);
  expect(wordsOf(elementsOf(html, "main")[0] as never)).toContain(
    "103 artifacts in both releases, of which 3 are not listed here.",
  );
});

const withdrawn = (id: number, name: string) =>
  retractedOf(id, { name, file: name, package_type: name.slice(-3) });

test("a withdrawn file is neither new nor removed, and a new one that was withdrawn is marked", () => {
  const html = pageOf(
    siteOf([
      releaseOf("26.09.001", {
        retracted: [withdrawn(11, "client-26.09.001.deb"), withdrawn(12, "client-26.09.001.pkg")],
      }),
      releaseOf("26.08.001", { packages: named("26.08.001", ["client-V.deb"]) }),
    ]),
    "changes/26.09.001/index.html",
  );
  expect(listAfter(html, "New")).toEqual(["client-26.09.001.pkg withdrawn"]);
  expect(listAfter(html, "Removed")).toEqual([]);
});

test("a file whose record has another name is the same file", () => {
  const records = ["Client", "client-26.08.001.deb"];
  const [newer, older] = ["26.09.001", "26.08.001"].map((version, index) => {
    const file = `client-${version}.deb`;
    return releaseOf(version, { packages: [packageOf(9 - index, { name: records[index] ?? "", file })] });
  });
  if (!newer || !older) throw new Error("no releases");
  const html = pageOf(siteOf([newer, older]), "changes/26.09.001/index.html");
  expect(html).toContain("No file is new.");
  expect(html).toContain("No file was removed.");
});

test("the first release has no list of files", () => {
  const html = pageOf(site, "changes/26.08.001/index.html");
  expect(html).toContain("is the first release");
  expect(html).not.toContain("Removed");
});

test("releases/ groups by year and month, with counts, and only the newest month is open", {
  tags: ["long"],
}, () => {
  const older = Array.from({ length: 1060 }, (_, index) =>
    releaseOf(
      `25.${String(12 - Math.floor(index / 200)).padStart(2, "0")}.${String(200 - (index % 200)).padStart(3, "0")}`,
      {
        packages: [packageOf(5000 - index)],
      },
    ),
  );
  const html = pageOf(siteOf([...releases, ...older]), "releases/index.html");
  const months = elementsOf(html, "summary").map((summary) => wordsOf(summary).trim());
  expect(months.slice(0, 3)).toEqual(["26.09 · 1 release", "26.08 · 2 releases", "25.12 · 200 releases"]);
  const open = elementsOf(html, "details").map((each) => attributeOf(each, "open") !== undefined);
  expect(open).toEqual([true, ...months.slice(1).map(() => false)]);
  expect(elementsOf(html, "h2").map((each) => wordsOf(each))).toEqual(["2026", "2025"]);
  const links = elementsOf(html, "a").flatMap((link) => attributeOf(link, "href") ?? []);
  expect(links.filter((link) => /^\d\d\.\d\d\.\d\d\d\/$/.test(link))).toHaveLength(1000);
  expect(links.filter((link) => link.startsWith("../page/"))).toHaveLength(months.length);
  expect(html.length).toBeLessThan(100_000);
});

test("sitemap.xml has the absolute address of each page, with the date of its release", () => {
  const map = siteMapOf(releases);
  const base = /<loc>(.*?)<\/loc>/.exec(map)?.[1] ?? "";
  const addresses = [...map.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, address]) => address?.slice(base.length));
  expect(base).toMatch(/^https:\/\/.*\/$/);
  expect(addresses).toEqual(
    expect.arrayContaining(["", "releases/", "releases/26.08.002/", "changes/26.08.002/", "page/26.08/"]),
  );
  for (const path of addresses)
    if (!/^(?:releases\/2|feeds|api)/.test(path ?? "")) pageOf(site, `${path}index.html`);
  expect(addresses).toEqual(expect.arrayContaining(["platforms/KVM/", "feeds/", "api/reference/"]));
  expect(map).toContain("releases/26.08.002/</loc><lastmod>2026-08-19</lastmod>");
});
