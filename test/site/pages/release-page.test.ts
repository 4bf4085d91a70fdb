import { expect, test } from "vitest";
import type { PublishedRelease } from "../../../pipeline/documents/published.ts";
import { sizeText } from "../../../pipeline/site/pages/artifact-view.ts";
import { releasePage } from "../../../pipeline/site/pages/release-page.ts";
import {
  attributeOf,
  configOf,
  dangers,
  type Element,
  elementsOf,
  hostile,
  linksOf,
  noteOf,
  packageOf,
  releaseOf,
  retractedOf,
  sectionOf,
  templates,
  textOf,
  wordsOf,
} from "./factory.ts";

const config = configOf();
const pageOf = (release: PublishedRelease, changed = config): string =>
  textOf(releasePage(release, changed, templates)[0]);

const inside = (element: Element, tag: string): Element[] => {
  const found: Element[] = [];
  const visit = (node: Element["childNodes"][number]) => {
    if (!("tagName" in node)) return;
    if (node.tagName === tag) found.push(node);
    node.childNodes.forEach(visit);
  };
  element.childNodes.forEach(visit);
  return found;
};

const deb = packageOf(12, {
  name: "client-core.deb",
  package_type: "deb",
  platform: 7,
  operating_system: "linux",
  min_os_version: "22.04",
  headless: true,
  data: {
    attestation: { key_id: "0".repeat(40), signature: { signer: "Example <sign@example.com>" } },
    vendor: { rev: "a".repeat(40) },
  },
});

test("a page has one h1, headings without gaps, a language, a title and only files of the site", () => {
  const release = releaseOf("26.08.002", {
    notes: [noteOf("# loud"), noteOf("Docs", { component: "documentation" })],
    packages: [packageOf(11), deb],
    retracted: [retractedOf(9)],
    summary: "## Big summary",
  });
  const html = pageOf(release);
  const levels = elementsOf(html).flatMap(({ tagName }) =>
    /^h[1-6]$/.test(tagName) ? Number(tagName[1]) : [],
  );
  expect(levels.filter((level) => level === 1)).toHaveLength(1);
  expect(levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1)).toEqual([]);
  expect(attributeOf(elementsOf(html, "html")[0] as Element, "lang")).toBe("en");
  expect(wordsOf(elementsOf(html, "title")[0] as Element)).toBe("26.08.002 · Example Controller");
  expect(elementsOf(html, "main")).toHaveLength(1);
  expect(dangers(html)).toEqual([]);
  const loaded = [...elementsOf(html, "script"), ...elementsOf(html, "link")].map(
    (element) => attributeOf(element, "src") ?? attributeOf(element, "href") ?? "",
  );
  expect(loaded.length).toBeGreaterThan(2);
  for (const path of loaded)
    expect(path).toMatch(
      /^\.\.\/\.\.\/(assets\/(style|script)\.[0-9a-f]{8}\.(css|js)|favicon\.svg|feed\.(atom|json))$/,
    );
});

test("ids on a page are unique and its anchors exist", () => {
  const html = pageOf(
    releaseOf("26.08.002", { packages: [packageOf(11), deb], retracted: [retractedOf(9)] }),
  );
  const ids = elementsOf(html).flatMap((element) => attributeOf(element, "id") ?? []);
  expect(new Set(ids).size).toBe(ids.length);
  for (const link of linksOf(html)) if (link.startsWith("#")) expect(ids).toContain(link.slice(1));
});

test("links inside the site are relative", () => {
  const html = pageOf(releaseOf("26.08.002", { packages: [packageOf(11)] }));
  const links = linksOf(html).filter((link) => !link.startsWith("https://files.example.com/"));
  for (const link of links) expect(link).not.toMatch(/^(\/|[a-z]+:)/);
  expect(links).toEqual(
    expect.arrayContaining([
      "../../",
      "../../releases/",
      "../../platforms/",
      "SHA256SUMS",
      "notes.md",
      "notes.json",
    ]),
  );
  expect(links).toContain("../../api/v1/release/26.08.002/index.json");
});

test("a record's section has all facts for a download", () => {
  const section = sectionOf(pageOf(releaseOf("26.08.002", { packages: [deb] })), "p12");
  expect([section.tagName, section.parentNode?.nodeName]).toEqual(["div", "details"]);
  const words = wordsOf(section);
  for (const fact of [
    "Linux, 22.04 and later",
    "Core, without graphical interface",
    "1.5 KiB",
    "1,536 bytes",
    deb.record.checksum,
    "Example <sign@example.com>",
    "0".repeat(40),
    "a".repeat(40),
    "2026-08-19 10:22 UTC",
    "2026-08-20 11:00 UTC",
  ]) {
    expect(words).toContain(fact);
  }
  expect(inside(section, "time").map((time) => attributeOf(time, "datetime"))).toEqual([
    "2026-08-19T10:22:31.123456Z",
    "2026-08-20T11:00:00.000000Z",
  ]);
  const links = inside(section, "a").map((link) => attributeOf(link, "href"));
  expect(links).toEqual(["../../api/v1/package/12/index.json", "#p12"]);
});

test("a record has a date of revision only if it was revised", () => {
  const same = packageOf(1, { modified_date: packageOf(1).record.created_date });
  const html = pageOf(releaseOf("26.08.002", { packages: [same, packageOf(2)] }));
  expect(wordsOf(sectionOf(html, "p1"))).not.toContain("Revised");
  expect(wordsOf(sectionOf(html, "p2"))).toContain("Revised");
});

test.each([
  ["deb", "26.08.2-1", ""],
  ["deb", "1:26.08.002", ""],
  ["deb", "26.8.2.0", ""],
  ["deb", "1:2.4.0~rc1-3", "1:2.4.0~rc1-3"],
  ["deb", "26.8.20", "26.8.20"],
])("the version of a %s is shown if it is not that of the release: %s", (type, version, shown) => {
  const control = `Package: a\nVersion: ${version}\nArchitecture: amd64\nMaintainer: A <a@example.com>\nDescription: A\n`;
  const metadata = { type: "deb" as const, arch: "amd64", control };
  const html = pageOf(
    releaseOf("26.08.002", { packages: [{ ...packageOf(1, { package_type: type }), metadata }] }),
  );
  const words = wordsOf(elementsOf(html, "main")[0] as never);
  expect(/Package version(\S+)/.exec(words)?.[1] ?? "").toBe(shown);
  expect(/· version (\S+) ·/.exec(words)?.[1] ?? "").toBe(shown);
});

test("a release has the number of its artifacts", () => {
  const words = (packages: ReturnType<typeof packageOf>[]) =>
    wordsOf(sectionOf(pageOf(releaseOf("26.08.002", { packages })), "main"));
  expect(words([packageOf(1)])).toMatch(/· 1 artifact ·/);
  expect(words([packageOf(1), packageOf(2)])).toMatch(/· 2 artifacts ·/);
});

test("an unknown size is named, and zero is a size", () => {
  const html = pageOf(
    releaseOf("26.08.002", { packages: [packageOf(1, { size: null }), packageOf(2, { size: 0 })] }),
  );
  expect(wordsOf(sectionOf(html, "p1"))).toContain("size not stated");
  expect(wordsOf(sectionOf(html, "p2"))).toContain("0 bytes");
});

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [1023, "1023 bytes"],
  [1024, "1.0 KiB"],
  [1_048_575, "1.0 MiB"],
  [1_873_741_824, "1.7 GiB"],
  [Number.MAX_SAFE_INTEGER, "8.0 PiB"],
])("%i bytes are shown as %s", (bytes, text) => expect(sizeText(bytes)).toBe(text));

test("files are listed once in their group, by platform, and platforms have anchors", () => {
  const packages = [
    packageOf(14, { platform: 13, package_type: "xen" }),
    deb,
    packageOf(11),
    packageOf(10, { platform: 99, package_type: "zip" }),
  ];
  const html = pageOf(releaseOf("26.08.002", { packages }));
  expect(elementsOf(html, "h3").map(wordsOf)).toEqual(["Linux", "Other systems", "Appliance images"]);
  const ids = elementsOf(html).flatMap((element) => attributeOf(element, "id") ?? []);
  expect(ids.filter((id) => /^p(\d+$|latform)/.test(id))).toEqual([
    ...["platform-Debian-and-Ubuntu", "p12", "platform-Platform-99", "p10"],
    ...["platform-KVM", "p11", "platform-Xen", "p14"],
  ]);
});

test("download links and summaries have unique names", () => {
  const same = { name: "same name" };
  const html = pageOf(
    releaseOf("26.08.002", { packages: [packageOf(1, same), packageOf(2, { ...same, file: "b" })] }),
  );
  const buttons = elementsOf(html, "a").filter((link) => attributeOf(link, "class") === "button");
  for (const [names, count] of [
    [buttons.map(wordsOf), 2],
    [elementsOf(html, "summary").map(wordsOf), 4],
  ] as const) {
    expect(names).toHaveLength(count);
    expect(new Set(names).size).toBe(count);
  }
});

test.each([
  [1, 1, "1 of 2 files of this release was withdrawn"],
  [1, 2, "2 of 3 files of this release were withdrawn"],
  [0, 2, "This whole release was withdrawn: do not use it"],
])("%i kept and %i withdrawn files give the heading %j", (kept, withdrawn, heading) => {
  const packages = Array.from({ length: kept }, (_, index) => packageOf(index + 11));
  const retracted = Array.from({ length: withdrawn }, (_, index) => retractedOf(index + 1));
  const html = pageOf(releaseOf("26.08.002", { packages, retracted }));
  expect(wordsOf(sectionOf(html, "withdrawn"))).toBe(heading);
});

test("a retracted record begins with its reason, is struck out and has no download", () => {
  const retracted = [
    retractedOf(9, { replaced_by: 11, name: "bad.deb" }),
    retractedOf(8, { replaced_by: 77 }),
    retractedOf(7),
  ];
  const replacements = new Map([
    [11, { version: "26.08.002", name: "good.deb" }],
    [77, { version: "26.09.001", name: "better.deb" }],
  ]);
  const html = pageOf(releaseOf("26.08.002", { packages: [packageOf(11)], retracted, replacements }));
  const section = sectionOf(html, "p9");
  expect(wordsOf(section).indexOf("Loses its settings")).toBeLessThan(wordsOf(section).indexOf("bad.deb"));
  expect(inside(section, "s").map(wordsOf)).toEqual(["bad.deb"]);
  expect(inside(section, "a").map((link) => attributeOf(link, "href"))).toEqual(["#p11"]);
  expect(inside(sectionOf(html, "p8"), "a").map((link) => attributeOf(link, "href"))).toEqual([
    "../26.09.001/#p77",
  ]);
  expect(wordsOf(section)).toContain("Use good.deb of 26.08.002 instead");
  expect(inside(sectionOf(html, "p7"), "a")).toEqual([]);
  expect(html.indexOf('id="p9"')).toBeLessThan(html.indexOf('id="p11"'));
});

test("a provisional release has a notice, and a cut one has none", () => {
  const provisional = pageOf(releaseOf("26.08.002", { provisional: true }));
  expect(wordsOf(sectionOf(provisional, "main"))).toContain(
    "Not cut yet: 26.08.002. Ids and dates may change.",
  );
  expect(pageOf(releaseOf("26.08.002"))).not.toMatch(/not cut yet/i);
});

/** Texts with direction marks that are not isolated from the text around them. */
function exposed(html: string): string[] {
  const found: string[] = [];
  const visit = (node: Element["childNodes"][number], isolated: boolean) => {
    if ("value" in node && node.value.includes("\u202E") && !isolated) found.push(node.value);
    if (!("tagName" in node)) return;
    const isolates =
      node.tagName === "bdi" || node.tagName === "title" || attributeOf(node, "dir") === "auto";
    for (const child of node.childNodes) visit(child, isolated || isolates);
  };
  for (const root of elementsOf(html, "html")) visit(root, false);
  return found;
}

test("hostile text is text, and isolated from the text around it", () => {
  const name = `<b>"x"</b>'&amp;\u202Egnp.rpm`;
  const entry = packageOf(5, {
    name,
    description: hostile,
    operating_system: hostile,
    data: { attestation: { key_id: hostile, signature: { signer: hostile } }, vendor: { rev: hostile } },
  });
  const release = releaseOf("26.08.002", {
    packages: [entry],
    notes: [noteOf(hostile)],
    summary: hostile,
    retracted: [retractedOf(4, { name, reason: hostile })],
  });
  const platforms = new Map([[11, hostile]]);
  const html = pageOf(release, configOf({ product: hostile, platforms }));
  expect(dangers(html)).toEqual([]);
  expect(elementsOf(html, "bdi").map(wordsOf)).toEqual(expect.arrayContaining([name]));
  expect(exposed(html)).toEqual([]);
});

test("a record's data of an unknown shape is not shown", () => {
  const odd = [
    { attestation: null },
    { attestation: { key_id: 5, signature: "x" }, vendor: [] },
    { vendor: { rev: {} } },
  ];
  const packages = odd.map((data, index) => packageOf(index + 1, { data }));
  expect(pageOf(releaseOf("26.08.002", { packages }))).not.toContain("Signing key");
});

test("a release of private or withdrawn files has no lines that check the signature of an empty SHA256SUMS", () => {
  const signed = configOf({ trust: { ...config.trust, profile: "simple", rootDigest: "a".repeat(64) } });
  const page = (changes: Partial<PublishedRelease>) => pageOf(releaseOf("26.08.002", changes), signed);
  expect(page({ packages: [deb] })).toContain("ssh-keygen");
  expect(page({ packages: [] })).not.toContain("ssh-keygen");
  expect(page({ packages: [], retracted: [retractedOf(9)] })).not.toContain("ssh-keygen");
});

test("a link that is not HTTP stops the page", () => {
  const packages = [packageOf(1, { url: "javascript:alert(1)" })];
  expect(() => pageOf(releaseOf("26.08.002", { packages }))).toThrow();
});
