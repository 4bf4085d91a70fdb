import { expect, test } from "vitest";
import { platformFolder } from "../../pipeline/documents/package-types.ts";
import type { PublishedRelease } from "../../pipeline/documents/published.ts";
import { type PagePieces, releasePieces, sitePages } from "../../pipeline/emitters/list-pages.ts";
import {
  attributeOf,
  configOf,
  dangers,
  type Element,
  elementsOf,
  hostile,
  linksOf,
  packageOf,
  releaseOf,
  retractedOf,
  sectionOf,
  templates,
  textOf,
  wordsOf,
} from "./factory.ts";

const config = configOf();

const siteOf = (releases: readonly PublishedRelease[], changed = config): Map<string, string> => {
  const pieces = releases.map((release) => releasePieces(release, changed, templates));
  // What is kept between builds is kept as JSON.
  const kept: PagePieces[] = JSON.parse(JSON.stringify(pieces));
  return new Map([...sitePages(kept, changed, templates)].map((file) => [file.path, textOf(file)]));
};

const pageOf = (site: Map<string, string>, path: string): string => {
  const html = site.get(path);
  if (html === undefined) throw new Error(`no ${path} among ${[...site.keys()].join(" ")}`);
  return html;
};

const deb = { package_type: "deb", platform: 7, operating_system: "linux" };
const releases = [
  releaseOf("26.09.001", { packages: [packageOf(32), packageOf(31, { ...deb, name: "new.deb" })] }),
  releaseOf("26.08.002", { packages: [packageOf(22)], summary: "See [the notes](#notes)." }),
  releaseOf("26.08.001", {
    packages: [
      packageOf(12, { package_type: "qcow-efi", name: "efi.qcow2" }),
      packageOf(11, { ...deb, name: "old.deb" }),
    ],
    retracted: [retractedOf(10, { package_type: "xen" })],
  }),
];
const site = siteOf(releases);

const rowsOf = (html: string): string[] =>
  elementsOf(html, "tr")
    .filter((row) => attributeOf(row, "data-type") !== undefined)
    .map((row) => wordsOf(row));

/** Where a page's links lead, as paths of the site. */
const targetsOf = (path: string, html: string): URL[] =>
  [...elementsOf(html, "a"), ...elementsOf(html, "link"), ...elementsOf(html, "script")]
    .map((element) => attributeOf(element, "href") ?? attributeOf(element, "src") ?? "")
    .map((link) => new URL(link, `https://site.example/base/${path.replace(/index\.html$/, "")}`))
    .filter((url) => url.hostname === "site.example");

test("the pages of a site", () => {
  expect([...site.keys()].sort()).toEqual([
    "404.html",
    "api/v1/package/index.html",
    "api/v1/package/page/26.08/index.html",
    "index.html",
    "page/26.08/index.html",
    "page/26.09/index.html",
    "platforms/Debian-and-Ubuntu/index.html",
    "platforms/KVM/index.html",
    "platforms/Xen/index.html",
    "platforms/index.html",
    "releases/index.html",
    "releases/latest/index.html",
  ]);
});

test("every page is a page: one h1, no gap in its headings, nothing that runs, no id twice", () => {
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

test("every link but those of 404.html is relative and leads below the base path", () => {
  const known =
    /^(assets\/\w+\.[0-9a-f]{8}\.(css|js)|favicon\.svg|feed\.(atom|json)|api\/v1\/(latest|index|package\/index|release\/index)\.json|releases\/[\d.]+\/(SHA256SUMS)?|)$/;
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

test("404.html works at any depth, below the base path", () => {
  const html = pageOf(site, "404.html");
  for (const element of [...elementsOf(html, "a"), ...elementsOf(html, "link")]) {
    const href = attributeOf(element, "href") ?? "";
    if (href !== "#main") expect(href).toMatch(/^\/base\//);
  }
  const atRoot = pageOf(siteOf(releases, configOf({ baseUrl: "https://downloads.example.com" })), "404.html");
  expect(linksOf(atRoot)).toContain("/releases/");
  expect(atRoot).not.toContain('"//');
});

test("home shows the newest month and leads to the others", () => {
  const html = pageOf(site, "index.html");
  expect(rowsOf(html)).toHaveLength(2);
  expect(linksOf(html)).toEqual(
    expect.arrayContaining([
      "releases/26.09.001/",
      "page/26.09/",
      "page/26.08/",
      "releases/",
      "releases/26.09.001/#p32",
      "releases/26.09.001/SHA256SUMS",
    ]),
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

test("a row has name, description, size, date, full checksum, commands and a link of its own name", () => {
  const [row = ""] = rowsOf(pageOf(site, "index.html"));
  const entry = packageOf(32);
  for (const fact of [
    entry.record.name,
    entry.record.description,
    "KVM",
    "1.5 KiB",
    "2026-08-19",
    entry.record.checksum,
    "sha256sum -c",
    "shasum -a 256 -c",
    "Get-FileHash",
  ]) {
    expect(row).toContain(fact);
  }
});

test("two artifacts of one name still have links of different names", () => {
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
    .slice(1)
    .map((row) => wordsOf(row).replace(/\s+/g, " "));
  expect(rows).toEqual([
    "26.09.0012026-08-192",
    "26.08.0022026-08-191",
    "26.08.0012026-08-192, 1 withdrawn from 26.08.001",
  ]);
});

test("releases/latest/ leads to the newest release, with and without the refresh", () => {
  const html = pageOf(site, "releases/latest/index.html");
  const refresh = elementsOf(html, "meta").find((meta) => attributeOf(meta, "http-equiv") === "refresh");
  expect(refresh && attributeOf(refresh, "content")).toBe("0; url=../26.09.001/");
  expect(linksOf(html)).toContain("../26.09.001/");
  for (const [path, other] of site)
    if (path !== "releases/latest/index.html") expect(other, path).not.toContain('http-equiv="refresh"');
});

test("a platform's page has each type in the highest version that has it", () => {
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

test("a platform with nothing but retracted artifacts keeps its page", () => {
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

const jsonOf = (html: string): unknown => {
  const pre = elementsOf(html, "pre")[0] as Element;
  return JSON.parse(wordsOf(pre).split("\n\n").slice(1).join("\n\n"));
};

test("the browsable list is the list: the same records, indented, under the answer's head", () => {
  const html = pageOf(site, "api/v1/package/index.html");
  expect(jsonOf(html)).toEqual(releases[0]?.packages.map((entry) => entry.record));
  const older = releases.slice(1).flatMap((release) => release.packages.map((entry) => entry.record));
  expect(jsonOf(pageOf(site, "api/v1/package/page/26.08/index.html"))).toEqual(older);
  const words = wordsOf(elementsOf(html, "pre")[0] as Element);
  expect(words).toMatch(
    /^HTTP 200 OK\nAllow: GET, POST, HEAD, OPTIONS\nContent-Type: application\/json\nVary: Accept\n\n\[\n/,
  );
  expect(words).toContain('\n        "id": 32,\n');
  expect(elementsOf(html, "h1").map(wordsOf)).toEqual(["Package List"]);
  expect(wordsOf(sectionOf(html, "main"))).toContain("GET /base/api/v1/package/");
  expect(linksOf(html)).toEqual(
    expect.arrayContaining([
      "../index.json",
      "index.json",
      "?format=api",
      "page/26.08/",
      "../../../releases/26.09.001/#p32",
    ]),
  );
});

test("addresses in records are links, hostile text in them is not", () => {
  const odd = packageOf(5, {
    name: "https://x.example/a?b=1&c='2'",
    description: `"https://evil.example/" ${hostile} ="../../x`,
    operating_system: 'javascript:alert(1) https://x.example/"',
    data: { attestation: { key_id: 'https://x.example/\\" onclick=' } },
  });
  const odds = siteOf(
    [releaseOf("26.08.002", { packages: [odd], summary: hostile })],
    configOf({ product: hostile }),
  );
  const html = pageOf(odds, "api/v1/package/index.html");
  expect(linksOf(html).filter((link) => link.includes("example"))).toEqual(["https://x.example/a?b=1&c='2'"]);
  expect(jsonOf(html)).toEqual([odd.record]);
  for (const [path, page] of odds) expect(dangers(page), path).toEqual([]);
  expect(rowsOf(pageOf(odds, "index.html"))[0]).toContain('="../../x');
});

test("provisional versions are named on the pages that show them, and on no other", () => {
  const site = siteOf([
    releaseOf("26.09.002", { provisional: true, packages: [packageOf(51)] }),
    ...releases,
  ]);
  const naming = [...site]
    .filter(([, html]) => /Not cut yet:<\/strong> 26\.09\.002\./.test(html))
    .map(([path]) => path);
  expect(naming.sort()).toEqual([
    "api/v1/package/index.html",
    "index.html",
    "page/26.09/index.html",
    "platforms/KVM/index.html",
    "platforms/index.html",
    "releases/index.html",
  ]);
});

test("a site without releases has its pages all the same", () => {
  const empty = siteOf([]);
  expect([...empty.keys()].sort()).toEqual([
    "404.html",
    "api/v1/package/index.html",
    "index.html",
    "platforms/index.html",
    "releases/index.html",
    "releases/latest/index.html",
  ]);
  expect(jsonOf(pageOf(empty, "api/v1/package/index.html"))).toEqual([]);
  expect(empty.get("releases/latest/index.html")).not.toContain("refresh");
  for (const [path, html] of empty) expect(dangers(html), path).toEqual([]);
});

test("the same pieces give the same bytes whenever they are asked for", () => {
  const pieces = releases.map((release) => releasePieces(release, config, templates));
  const files = [...sitePages(pieces, config, templates)];
  expect(files.map(textOf)).toEqual(files.map(textOf));
});
