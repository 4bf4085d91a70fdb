import { expect, test } from "vitest";
import { releasePage } from "../../../pipeline/site/pages/release-page.ts";
import {
  attributeOf,
  configOf,
  dangers,
  type Element,
  elementsOf,
  linksOf,
  packageOf,
  releaseOf,
  retractedOf,
  sectionOf,
  templates,
  textOf,
  wordsOf,
} from "./factory.ts";
import { pageOf, pagesOf, releases, rowsOf, site, siteOf } from "./site.ts";

/** Targets of a page's links, as paths of the site. */
const targetsOf = (path: string, html: string): URL[] =>
  [...elementsOf(html, "a"), ...elementsOf(html, "link"), ...elementsOf(html, "script")]
    .map((element) => attributeOf(element, "href") ?? attributeOf(element, "src") ?? "")
    .map((link) => new URL(link, `https://site.example/base/${path.replace(/index\.html$/, "")}`))
    .filter((url) => url.hostname === "site.example");

test("a site has all its pages", () => {
  expect([...site.keys()].sort()).toEqual([
    "404.html",
    "api/v1/package/index.html",
    "api/v1/package/page/26.08/index.html",
    "changes/26.08.001/index.html",
    "changes/26.08.002/index.html",
    "changes/26.09.001/index.html",
    "changes/index.html",
    "feeds/index.html",
    "index.html",
    "page/26.08/index.html",
    "page/26.09/index.html",
    "platforms/Debian-and-Ubuntu/index.html",
    "platforms/KVM/index.html",
    "platforms/Xen/index.html",
    "platforms/index.html",
    "releases/index.html",
    "releases/latest/index.html",
    "search/index.html",
  ]);
});

test("every page has one h1, no gap in its headings, no script and no id twice", () => {
  for (const [path, html] of site) {
    const levels = elementsOf(html).flatMap(({ tagName }) =>
      /^h[1-6]$/.test(tagName) ? Number(tagName[1]) : [],
    );
    expect(
      levels.filter((level) => level === 1),
      path,
    ).toHaveLength(1);
    expect(
      levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1),
      path,
    ).toEqual([]);
    expect(dangers(html), path).toEqual([]);
    const ids = elementsOf(html).flatMap((element) => attributeOf(element, "id") ?? []);
    expect(new Set(ids).size, path).toBe(ids.length);
    const policy = elementsOf(html, "meta").find(
      (meta) => attributeOf(meta, "http-equiv") === "Content-Security-Policy",
    );
    expect(policy && attributeOf(policy, "content"), path).toMatch(/^default-src 'none';/);
    for (const table of elementsOf(html, "table"))
      expect(wordsOf(table.childNodes.find((node) => node.nodeName === "caption") as Element), path).not.toBe(
        "",
      );
  }
});

test("every link but those of 404.html is relative and stays below the base path", () => {
  const known =
    /^(assets\/\w+\.[0-9a-f]{8}\.(css|js)|favicon\.svg|openapi\.json|feed\.(atom|json)|api\/v1\/(latest|index|package\/index|release\/index)\.json|releases\/[\d.]+\/(SHA256SUMS)?|api\/reference\/|feeds\/|)$/;
  for (const [path, html] of site) {
    if (path === "404.html") continue;
    expect(
      linksOf(html).filter(
        (link) => /^(\/|[a-z]+:)/.test(link) && !link.startsWith("https://files.example.com/"),
      ),
      path,
    ).toEqual([]);
    for (const url of targetsOf(path, html)) {
      expect(url.pathname, path).toMatch(/^\/base\//);
      const target = url.pathname.slice("/base/".length);
      if (!site.has(`${target}index.html`) && target !== path) expect(target, path).toMatch(known);
    }
  }
});

test("404.html works at any depth below the base path", () => {
  const html = pageOf(site, "404.html");
  for (const element of [...elementsOf(html, "a"), ...elementsOf(html, "link")]) {
    const href = attributeOf(element, "href") ?? "";
    if (href !== "#main") expect(href).toMatch(/^\/base\//);
  }
  const atRoot = pageOf(siteOf(releases, configOf({ baseUrl: "https://downloads.example.com" })), "404.html");
  expect(linksOf(atRoot)).toContain("/releases/");
  expect(atRoot).not.toContain('"//');
});

test("home has the newest files of each system, clients first, and links to everything else", () => {
  const html = pageOf(site, "index.html");
  expect(elementsOf(html, "h2").map(wordsOf)).toEqual(["Linux", "Appliance images", "By month"]);
  expect(rowsOf(html).map((row) => row.trim().split(",")[0])).toEqual([
    "new.deb",
    "controller-32.qcow2.gz",
    "efi.qcow2",
  ]);
  expect(linksOf(html)).toEqual(
    expect.arrayContaining([
      "#linux",
      "#images",
      "releases/26.09.001/",
      "page/26.09/",
      "page/26.08/",
      "releases/",
      "releases/26.09.001/#p32",
      "platforms/KVM/",
      "platforms/Debian-and-Ubuntu/",
    ]),
  );
  expect(linksOf(html)).not.toContain("platforms/Xen/");
});

test("groups are ordered: Linux, macOS, Windows, other systems, charts, images", () => {
  const types = ["qcow", "helm", "zip", "msi", "pkg", "rpm", "deb"];
  const platforms = [11, 8, 99, 4, 5, 14, 7];
  const packages = types.map((package_type, index) =>
    packageOf(index + 1, { package_type, platform: platforms[index] ?? 0, name: package_type }),
  );
  const ordered = configOf({ platforms: new Map([[14, "RPM Linux"], ...configOf().platforms]) });
  const html = pageOf(siteOf([releaseOf("26.08.002", { packages })], ordered), "index.html");
  expect(elementsOf(html, "h2").map(wordsOf)).toEqual([
    "Linux",
    "macOS",
    "Windows",
    "Other systems",
    "Kubernetes",
    "Appliance images",
    "By month",
  ]);
  expect(rowsOf(html).map((row) => row.trim().split(",")[0])).toEqual([
    "rpm",
    "deb",
    "pkg",
    "msi",
    "zip",
    "helm",
    "qcow",
  ]);
});

test("a list has a notice of a withdrawal in a release, with a link", () => {
  const html = pageOf(site, "page/26.08/index.html");
  const [notice] = elementsOf(html, "p").filter(
    (element) => attributeOf(element, "class") === "banner danger",
  );
  expect(notice && wordsOf(notice)).toBe(
    "1 withdrawn: artifacts of 26.08.001 that must not be used, with reasons",
  );
});

test("a month's page has its releases, newest first, and their artifacts", () => {
  const html = pageOf(site, "page/26.08/index.html");
  expect(elementsOf(html, "h2").map(wordsOf)).toEqual(["26.08.002", "26.08.001"]);
  expect(rowsOf(html)).toHaveLength(3);
  expect(linksOf(html)).toEqual(
    expect.arrayContaining([
      "../../releases/26.08.002/#p22",
      "../../releases/26.08.002/#notes",
      "../../releases/26.08.001/#withdrawn",
    ]),
  );
});

test("a row has name, platform, type and size, links to the record and a button for the file", () => {
  const html = pageOf(site, "page/26.09/index.html");
  const row = rowsOf(html).at(-1) ?? "";
  for (const fact of ["controller-32.qcow2.gz", "KVM", "qcow", "1.5 KiB"]) expect(row).toContain(fact);
  const cell = elementsOf(html, "th")
    .filter((cell) => attributeOf(cell, "scope") === "row")
    .at(-1);
  const button = elementsOf(html, "a")
    .filter((link) => attributeOf(link, "class") === "button")
    .at(-1);
  const [name] = cell?.childNodes ?? [];
  expect(name && "attrs" in name && attributeOf(name, "href")).toBe("../../releases/26.09.001/#p32");
  expect(button && attributeOf(button, "href")).toBe(packageOf(32, { version: "26.08.002" }).url);
  expect(button && wordsOf(button)).toBe("Download controller-32.qcow2.gz, qcow of 26.09.001, record 32");
});

test("home, months, platforms and releases have the usual architectures first, and unknown ones last", () => {
  const archs = [undefined, "all", "s390x", "arm64", "amd64"];
  const packages = archs.map((arch, index) => ({
    ...packageOf(index + 1, { package_type: "xz", platform: 17, name: `${arch ?? "unknown"}.tar.xz` }),
    ...(arch && { metadata: { type: "archive" as const, arch } }),
  }));
  const release = releaseOf("26.09.001", { packages });
  const expected = ["amd64", "arm64", "s390x", "all", "unknown"].map((name) => `${name}.tar.xz`);
  const namesIn = (html: string) => [
    ...new Set(
      elementsOf(html, "bdi")
        .map(wordsOf)
        .filter((word) => word.endsWith(".tar.xz")),
    ),
  ];
  const made = siteOf([release]);
  for (const path of ["index.html", "page/26.09/index.html", "platforms/Linux/index.html"])
    expect(namesIn(pageOf(made, path)), path).toEqual(expected);
  expect(namesIn(textOf(releasePage(release, configOf(), templates)[0]))).toEqual(expected);
});

test("the files of a month are in the order of home: clients, charts, images", () => {
  const types = ["qcow", "helm", "msi", "deb"];
  const packages = types.map((package_type, index) =>
    packageOf(index + 1, { package_type, platform: [11, 8, 4, 7][index] ?? 0, name: package_type }),
  );
  const html = pageOf(siteOf([releaseOf("26.08.002", { packages })]), "page/26.08/index.html");
  expect(rowsOf(html).map((row) => row.trim().split(",")[0])).toEqual(["deb", "msi", "helm", "qcow"]);
});

test("the links of two artifacts with one name have different names", () => {
  const same = { name: "same.qcow2" };
  const twins = [packageOf(1, same), packageOf(2, { ...same, file: "other.qcow2" })];
  const html = pageOf(siteOf([releaseOf("26.08.002", { packages: twins })]), "index.html");
  const downloads = elementsOf(html, "a").filter((link) =>
    attributeOf(link, "href")?.startsWith("https://files."),
  );
  expect(new Set(downloads.map(wordsOf)).size).toBe(2);
});

test("a new release changes no page of an older month", () => {
  const after = siteOf([releaseOf("26.10.001", { packages: [packageOf(41)] }), ...releases]);
  for (const path of [
    "page/26.08/index.html",
    "page/26.09/index.html",
    "api/v1/package/page/26.08/index.html",
    "changes/26.08.001/index.html",
    "changes/26.09.001/index.html",
    "platforms/Xen/index.html",
    "platforms/Debian-and-Ubuntu/index.html",
    "404.html",
  ]) {
    expect(after.get(path), path).toBe(site.get(path));
  }
  for (const path of [
    "index.html",
    "releases/index.html",
    "releases/latest/index.html",
    "platforms/KVM/index.html",
  ]) {
    expect(after.get(path), path).not.toBe(site.get(path));
  }
});

test("releases/ has every release with its date and counts", () => {
  const html = pageOf(site, "releases/index.html");
  const rows = elementsOf(html, "tr")
    .filter((row) => !wordsOf(row).startsWith("Version"))
    .map((row) => wordsOf(row).replace(/\s+/g, " "));
  expect(rows).toEqual([
    "26.09.0012026-08-192 artifacts",
    "26.08.0022026-08-191 artifactSee the notes. ",
    "26.08.0012026-08-192 artifacts 1 withdrawn from 26.08.001",
  ]);
});

test("releases/latest/ redirects to the newest release, with and without the refresh", () => {
  const html = pageOf(site, "releases/latest/index.html");
  const refresh = elementsOf(html, "meta").find((meta) => attributeOf(meta, "http-equiv") === "refresh");
  expect(refresh && attributeOf(refresh, "content")).toBe("0; url=../26.09.001/");
  expect(linksOf(html)).toContain("../26.09.001/");
  for (const [path, other] of site)
    if (path !== "releases/latest/index.html") expect(other, path).not.toContain('http-equiv="refresh"');
});

test("provisional versions are named on the pages that show them only", () => {
  const site = siteOf([
    releaseOf("26.09.002", { provisional: true, packages: [packageOf(51)] }),
    ...releases,
  ]);
  const naming = [...site]
    .filter(([, html]) => /Not cut yet:<\/strong> 26\.09\.002\./.test(html))
    .map(([path]) => path);
  expect(naming.sort()).toEqual([
    "api/v1/package/index.html",
    "changes/26.09.002/index.html",
    "index.html",
    "page/26.09/index.html",
    "platforms/KVM/index.html",
    "platforms/index.html",
    "releases/index.html",
  ]);
});

test("a site without releases has all its pages", () => {
  const empty = siteOf([]);
  expect([...empty.keys()].sort()).toEqual([
    "404.html",
    "api/v1/package/index.html",
    "changes/index.html",
    "feeds/index.html",
    "index.html",
    "platforms/index.html",
    "releases/index.html",
    "releases/latest/index.html",
    "search/index.html",
  ]);
  expect(empty.get("releases/latest/index.html")).not.toContain("refresh");
  for (const [path, html] of empty) expect(dangers(html), path).toEqual([]);
});

test("the same pieces give the same bytes each time", () => {
  const files = pagesOf(releases);
  expect(files.map(textOf)).toEqual(files.map(textOf));
});

test("home without a release that is offered says so", () => {
  const withdrawn = releaseOf("26.08.001", { packages: [], retracted: [retractedOf(10)] });
  const html = pageOf(siteOf([withdrawn]), "index.html");
  expect(wordsOf(sectionOf(html, "main"))).toContain("No release is offered at the moment.");
  expect(elementsOf(html, "h2").map(wordsOf)).toEqual(["By month"]);
});
