import { expect, test } from "vitest";
import { feedEntry, feedFiles, newsOf } from "../../../pipeline/site/news-feeds.ts";
import {
  configOf,
  dangers,
  elementsOf,
  hostile,
  linksOf,
  noteOf,
  packageOf,
  releaseOf,
  retractedOf,
  textOf,
  wordsOf,
} from "./factory.ts";
import { readXml, type XmlElement } from "./xml.ts";

const config = configOf();

const feedsOf = (releases: Parameters<typeof feedEntry>[0][], changed = config) => {
  const files = feedFiles(
    releases.map((release) => feedEntry(release, changed)),
    changed,
  );
  expect(files.map((file) => file.path)).toEqual(["feed.atom", "feed.json"]);
  return { atom: textOf(files[0]), feed: readXml(textOf(files[0])), json: JSON.parse(textOf(files[1])) };
};

const childrenOf = (element: XmlElement | undefined, name: string) =>
  element?.children.filter((child) => child.name === name) ?? [];
const fieldOf = (element: XmlElement | undefined, name: string) => childrenOf(element, name)[0]?.text;

const release = releaseOf("26.08.002", {
  summary: "Read [this](#p11) and [that](../26.08.001/).",
  notes: [noteOf("A fix.")],
  packages: [packageOf(11)],
});

test("references are links in summaries and notes of both feeds", () => {
  const refs = new Map([["NW-", "https://issues.example/{ref}"]]);
  const tracked = releaseOf("26.08.002", { summary: "About NW-1.", notes: [noteOf("A fix of NW-2.")] });
  const { feed, json } = feedsOf([tracked], configOf({ refs }));
  const html = fieldOf(childrenOf(feed, "entry")[0], "content") ?? "";
  expect(html).toBe(json.items[0].content_html);
  expect(linksOf(html)).toEqual(["https://issues.example/NW-1", "https://issues.example/NW-2"]);
});

test("a feed has its id, its entries and their dates, without a clock", () => {
  const { feed, json } = feedsOf([release, releaseOf("26.07.001", { date: "2026-07-15" })]);
  expect(feed.name).toBe("feed");
  expect(feed.attributes.get("xmlns")).toBe("http://www.w3.org/2005/Atom");
  expect(fieldOf(feed, "id")).toBe("tag:example.com,2000:releases");
  expect(fieldOf(feed, "updated")).toBe("2026-08-19T10:22:31.123456Z");
  expect(childrenOf(feed, "link").map((link) => link.attributes.get("href"))).toEqual([
    "https://downloads.example.com/base/feed.atom",
    "https://downloads.example.com/base/",
  ]);
  const entries = childrenOf(feed, "entry");
  expect(
    entries.map((entry) => [fieldOf(entry, "id"), fieldOf(entry, "title"), fieldOf(entry, "published")]),
  ).toEqual([
    ["tag:example.com,2026:release/26.08.002", "Example Controller 26.08.002", "2026-08-19T00:00:00Z"],
    ["tag:example.com,2026:release/26.07.001", "Example Controller 26.07.001", "2026-07-15T00:00:00Z"],
  ]);
  expect(json).toMatchObject({
    version: "https://jsonfeed.org/version/1.1",
    home_page_url: "https://downloads.example.com/base/",
    feed_url: "https://downloads.example.com/base/feed.json",
  });
  expect(json.items.map((item: { id: string }) => item.id)).toEqual(
    entries.map((entry) => fieldOf(entry, "id")),
  );
});

test("ids do not depend on base_url or the product's name", () => {
  const moved = feedsOf([release], configOf({ baseUrl: "https://elsewhere.example", product: "New name" }));
  expect(moved.json.items[0].id).toBe("tag:example.com,2026:release/26.08.002");
  expect(fieldOf(moved.feed, "id")).toBe("tag:example.com,2000:releases");
});

test("links in an entry are absolute, and downloads are listed", () => {
  const { json, feed } = feedsOf([release]);
  const html: string = json.items[0].content_html;
  expect(linksOf(html)).toEqual([
    "https://downloads.example.com/base/releases/26.08.002/#p11",
    "https://downloads.example.com/base/releases/26.08.001/",
    packageOf(11).url,
  ]);
  expect(wordsOf(elementsOf(html, "body")[0] as never)).toContain("controller-11.qcow2.gz");
  expect(fieldOf(childrenOf(feed, "entry")[0], "content")).toBe(html);
});

test("a retraction is in its entry, and changes updated but not published", () => {
  const retracted = [
    retractedOf(9, { replaced_by: 11, reason: "Bad & worse" }),
    retractedOf(8, { at: "2026-09-01T08:00:00.500001Z", name: "b.deb" }),
  ];
  const { json, feed } = feedsOf([
    { ...release, retracted, replacements: new Map([[11, { version: "26.09.001", name: "good.deb" }]]) },
  ]);
  const [item] = json.items;
  expect(item.date_published).toBe("2026-08-19T00:00:00Z");
  expect(item.date_modified).toBe("2026-09-01T08:00:00.500001Z");
  expect(fieldOf(feed, "updated")).toBe("2026-09-01T08:00:00.500001Z");
  const paragraphs = elementsOf(item.content_html, "p").map(wordsOf);
  expect(paragraphs.slice(0, 2)).toEqual([
    "Withdrawn: controller-9.qcow2.gz (record 9). Bad & worse. Use good.deb of 26.09.001 instead.",
    "Withdrawn: b.deb (record 8). Loses its settings.",
  ]);
  expect(linksOf(item.content_html)).toContain("https://downloads.example.com/base/releases/26.09.001/#p11");
});

test("times with and without decimals are compared correctly", () => {
  const midnight = (at: string) =>
    feedsOf([
      releaseOf("26.08.002", { date: "2026-09-01" }),
      releaseOf("26.08.001", { retracted: [retractedOf(1, { at })] }),
    ]);
  expect(fieldOf(midnight("2026-09-01T00:00:00.000001Z").feed, "updated")).toBe(
    "2026-09-01T00:00:00.000001Z",
  );
  expect(fieldOf(midnight("2026-08-31T23:59:59.999999Z").feed, "updated")).toBe("2026-09-01T00:00:00Z");
});

test("a feed without entries is valid and has its own date", () => {
  const { feed, json } = feedsOf([]);
  expect(fieldOf(feed, "updated")).toMatch(/^\d{4}-\d\d-\d\dT00:00:00Z$/);
  for (const needed of ["id", "title", "author"]) expect(childrenOf(feed, needed)).toHaveLength(1);
  expect(json.items).toEqual([]);
});

test("a feed has fifty entries at most", () => {
  const many = Array.from({ length: 60 }, (_, index) =>
    releaseOf(`26.08.${String(60 - index).padStart(3, "0")}`),
  );
  const { feed, json } = feedsOf(newsOf(many));
  expect(childrenOf(feed, "entry")).toHaveLength(50);
  expect(json.items.at(-1).url).toBe("https://downloads.example.com/base/releases/26.08.011/");
});

test("hostile text leaves both feeds well-formed and harmless", () => {
  const text = `${hostile}\uFFFE\uFFFF\u0085 <![CDATA[x]]> &nbsp; <!-- -->`;
  const nasty = releaseOf("26.08.002", {
    summary: text,
    notes: [noteOf(text, { refs: [text] })],
    packages: [packageOf(1, { name: text.slice(0, 200), url: "https://x.example/a'b&c\"d<e>" })],
    retracted: [retractedOf(2, { name: text, reason: text })],
  });
  const { atom, feed, json } = feedsOf([nasty], configOf({ product: text }));
  expect(atom).not.toMatch(/[^\P{Cc}\t\n]|[\uFFFE\uFFFF]/u);
  expect(atom).not.toContain("]]>");
  const [entry] = childrenOf(feed, "entry");
  expect(fieldOf(entry, "title")).toContain(
    `]]><script>alert(1)</script>"'&amp; {{x}} \uFFFD\uFFFD[31m\u202Eשלום\u202C 😀`,
  );
  for (const html of [fieldOf(entry, "content") ?? "", json.items[0].content_html]) {
    expect(dangers(html)).toEqual([]);
    expect(linksOf(html)).toContain("https://x.example/a'b&c\"d<e>");
  }
});
