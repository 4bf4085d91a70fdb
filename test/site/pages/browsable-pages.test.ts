import { expect, test } from "vitest";
import {
  configOf,
  dangers,
  type Element,
  elementsOf,
  hostile,
  linksOf,
  packageOf,
  releaseOf,
  sectionOf,
  wordsOf,
} from "./factory.ts";
import { pageOf, releases, rowsOf, site, siteOf } from "./site.ts";

const jsonOf = (html: string): unknown => {
  const pre = elementsOf(html, "pre")[0] as Element;
  return JSON.parse(wordsOf(pre).split("\n\n").slice(1).join("\n\n"));
};

test("the browsable list has the list's records, indented, under the head of the answer", () => {
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

test("each part that answers replace is between marks, once", () => {
  const marks = {
    intro: /^The records of 26/,
    request: /^<b>GET<\/b> \/base\/api/,
    answer: /^\n\n {4}\{\n/,
    months: /<nav /,
  };
  for (const [name, content] of Object.entries(marks)) {
    const html = pageOf(site, "api/v1/package/index.html");
    const [before, inside = "", ...more] = html.split(new RegExp(`<!--/?${name}-->`));
    expect([before && inside, more.length], name).toEqual([expect.stringMatching(content), 1]);
  }
  const empty = pageOf(siteOf([]), "api/v1/package/index.html");
  for (const name of Object.keys(marks)) expect(empty.split(new RegExp(`<!--/?${name}-->`))).toHaveLength(3);
  expect(empty).toContain("[<!--answer--><!--/answer-->]");
  expect(jsonOf(empty)).toEqual([]);
  const missing = pageOf(site, "404.html");
  expect(missing).toContain("<h1><!--title-->Page not found<!--/title--></h1>");
  expect(missing).toMatch(/<p class="lead"><!--message-->[^<>]+<!--\/message--><\/p>/);
});

test("addresses in records are links, and hostile text is not", () => {
  const odd = packageOf(5, {
    name: "https://x.example/a?b=1&c='2'",
    description: `"https://evil.example/" ${hostile}`,
    min_os_version: '="../../x',
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
