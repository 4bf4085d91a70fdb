import { expect, test } from "vitest";
import { releasePage } from "../../../pipeline/site/pages/release-page.ts";
import {
  assetFiles,
  assetNames,
  compileTemplates,
  type Templates,
} from "../../../pipeline/site/pages/templates.ts";
import { RelcatError } from "../../../shared/errors.ts";
import {
  configOf,
  noteOf,
  packageOf,
  releaseOf,
  retractedOf,
  templateSources,
  templates,
  textOf,
} from "./factory.ts";
import { pagesOf } from "./site.ts";

const config = configOf();
const rich = releaseOf("26.08.002", {
  provisional: true,
  summary: "Summary",
  notes: [noteOf("Note")],
  packages: [
    packageOf(2),
    packageOf(1, { size: null, description: "", data: { attestation: { key_id: "key" } } }),
  ],
  retracted: [retractedOf(4, { replaced_by: 1 }), retractedOf(3)],
});
const releases = [rich, releaseOf("26.07.001")];

function renderAll(using: Templates): string[] {
  const sites = [releases, []].map((some) => pagesOf(some, config, using));
  return [...releases.flatMap((release) => releasePage(release, config, using)), ...sites.flat()].map(textOf);
}

const withSource = (file: string, change: (source: string) => string) =>
  compileTemplates(new Map(templateSources).set(file, change(templateSources.get(file) ?? "")));

/** The value, with an error for each missing member that is read. */
function watched<Value>(value: Value): Value {
  if (value === null || typeof value !== "object") return value;
  return new Proxy(value, {
    get(target, key) {
      if (typeof key === "string" && !(key in target)) throw new Error(`no ${key} in ${Object.keys(target)}`);
      return watched(Reflect.get(target, key));
    },
  }) as Value;
}

test("templates and their conditions use only members of their models", () => {
  const strict: Templates = { ...templates, render: (page, model) => templates.render(page, watched(model)) };
  expect(renderAll(strict)).toEqual(renderAll(templates));
});

/** File that the error of an action names. */
function placeOf(action: () => unknown): string | undefined {
  try {
    action();
  } catch (error) {
    if (error instanceof RelcatError) return error.problems[0]?.at?.file;
  }
  return undefined;
}

test.each([
  ["a missing name", "home.hbs", "{{nothing}}", 'the page has no value "nothing" here'],
  ["a missing partial", "platforms.hbs", "{{> nothing}}", "nothing could not be found"],
  ["an unknown helper", "release.hbs", "{{shout version}}", "unknown helper shout"],
  ["a name that data would choose", "release.hbs", "{{lookup layout version}}", "unknown helper lookup"],
])("%s is an error that names the template", (_, file, addition, message) => {
  const broken = withSource(file, (source) => source + addition);
  expect(() => renderAll(broken)).toThrow(RelcatError);
  expect(() => renderAll(broken)).toThrow(message);
  expect(placeOf(() => renderAll(broken))).toBe(`templates/${file}`);
});

test("a syntax error and a missing file are found before any page is made", () => {
  expect(placeOf(() => withSource("api.hbs", (source) => `${source}{{#if`))).toBe("templates/api.hbs");
  const fewer = new Map(templateSources);
  fewer.delete("row.hbs");
  fewer.delete("style.css");
  expect(() => compileTemplates(fewer)).toThrow("template: templates/ lacks row.hbs, style.css");
});

test("a page with a wrong model is not rendered", () => {
  const model = { layout: {}, surprise: true } as never;
  expect(() => templates.render("not-found", model)).toThrow(/surprise/);
});

test("only prepared HTML is unescaped, and every attribute is quoted", () => {
  for (const [file, source] of templateSources) {
    if (!file.endsWith(".hbs")) continue;
    for (const [whole, name] of source.matchAll(/\{\{\{\s*([\w.]+)?/g))
      expect(name, `${file}: ${whole}`).toMatch(/Html$/);
    expect(source, file).not.toMatch(/\{\{&/);
    expect(source.replace(/"[^"]*"/g, "quoted"), file).not.toMatch(/=\{\{/);
    expect(source, file).not.toMatch(/\s(style|on\w+)=/i);
  }
});

test("an asset's name changes with its content, and pages use that name", () => {
  const changed = withSource("style.css", (source) => `${source}\n`);
  expect(assetNames(templates).style).toMatch(/^assets\/style\.[0-9a-f]{8}\.css$/);
  expect(assetNames(changed).style).not.toBe(assetNames(templates).style);
  expect(assetNames(changed).script).toBe(assetNames(templates).script);
  expect(renderAll(changed).every((html) => html.includes(assetNames(changed).style))).toBe(true);
  const files = new Map(
    assetFiles(templates, { ...config, baseUrl: "https://downloads.example.com" }).map((file) => [
      file.path,
      textOf(file),
    ]),
  );
  expect([...files.keys()]).toEqual([
    assetNames(templates).style,
    assetNames(templates).script,
    assetNames(templates).search,
    assetNames(templates).changes,
    "favicon.svg",
    "robots.txt",
  ]);
  expect(files.get(assetNames(templates).style)).toBe(templateSources.get("style.css"));
  expect(files.get("robots.txt")).toBe(
    "User-agent: *\nAllow: /\nSitemap: https://downloads.example.com/sitemap.xml\n",
  );
});

test("the style sheet is small and loads nothing", () => {
  const style = templateSources.get("style.css") ?? "";
  expect(Buffer.byteLength(style)).toBeLessThan(20_480);
  expect(style).not.toMatch(/url\(|@import/);
});
