import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pageLayout, rootOf } from "../../pipeline/site/pages/page-layout.ts";
import type { PageModel } from "../../pipeline/site/pages/page-models.ts";
import { compileTemplates, type Templates } from "../../pipeline/site/pages/templates.ts";
import { readTemplates } from "../../pipeline/site/stores/templates.ts";
import { defaultConfig } from "./config.ts";
import { type DocumentPage, readPages } from "./pages.ts";

/** A file of the site. */
export interface SiteFile {
  path: string;
  bytes: Uint8Array | string;
}

/** The pages that the header names. */
const navigation = [
  { path: "docs/getting-started.html", text: "Getting started" },
  { path: "docs/index.html", text: "All pages" },
  { path: "docs/commands.html", text: "Commands" },
  { path: "docs/configuration.html", text: "Configuration" },
];

/** The layout of the catalog's pages without what only a catalog has. */
function layoutOf(layout: string): string {
  const changes: [RegExp, string][] = [
    [/^<link rel="alternate".*\n/gm, ""],
    [/^<meta property="og:url".*\n/m, ""],
    [/<p>For programs:<\/p>\n<ul>[\s\S]*?<\/ul>\n/, ""],
    [/aria-label="All releases"/, 'aria-label="Documentation"'],
    [/aria-label="Search all releases" placeholder="[^"]*"/, 'aria-label="Search the documentation"'],
    [/action="\{\{layout\.search\}\}"/, 'action="{{layout.search}}index.html"'],
  ];
  return changes.reduce((text, [from, to]) => {
    if (text.search(from) < 0) throw new Error(`templates/layout.hbs has no ${from}`);
    return text.replace(from, to);
  }, layout);
}

/** The functions of the catalog's search, with another index. */
export function searchScript(catalogs: string, own: string): string {
  const end = catalogs.indexOf("\nasync function findChecksum");
  if (end < 0) throw new Error("templates/search.js has no function findChecksum");
  return catalogs.slice(0, end) + own;
}

async function templatesFor(repository: string): Promise<Templates> {
  const sources = new Map(await readTemplates());
  const textOf = (name: string) => sources.get(name) ?? "";
  sources.set("layout.hbs", layoutOf(textOf("layout.hbs")));
  // The page of an unknown address has no values of its own, so it can carry any document.
  sources.set(
    "not-found.hbs",
    '{{#> layout}}\n<article class="document">\n{{{bodyHtml}}}</article>\n{{/layout}}\n',
  );
  const own = (name: string) => readFileSync(join(repository, "docs/site", name), "utf8");
  sources.set("search.js", searchScript(textOf("search.js"), own("search.js")));
  sources.set("style.css", textOf("style.css") + own("style.css"));
  return compileTemplates(sources);
}

function layout(path: string, title: string, templates: Templates, script?: "search") {
  const head = { title, description: `${title}: documentation of relcat.`, ...(script && { script }) };
  const root = rootOf(path);
  return {
    ...pageLayout(path, head, { config: defaultConfig, templates }),
    home: `${root}index.html`,
    nav: navigation.map(({ path: target, text }) => ({
      href: root + target,
      text,
      current: path === target,
    })),
  };
}

function htmlOf(
  path: string,
  title: string,
  bodyHtml: string,
  templates: Templates,
  script?: "search",
): string {
  const model = { layout: layout(path, title, templates, script), bodyHtml };
  return templates.render("not-found", model as unknown as PageModel<"not-found">);
}

const searchBody = `<h1>Search</h1>
<div class="results" aria-live="polite">
<p class="lead">Search for a command, an option, a key of catalog.yaml, or words.</p>
<noscript><p>This page searches with JavaScript. Without it, <a href="../docs/index.html">all pages</a> are listed.</p></noscript>
</div>
`;

/** Files that pages show or link to; folders have no page. */
function linkedFiles(repository: string, pages: readonly DocumentPage[]): SiteFile[] {
  const paths = [...new Set(pages.flatMap(({ files }) => files))].sort();
  const isFile = (path: string) => statSync(join(repository, path), { throwIfNoEntry: false })?.isFile();
  return paths.filter(isFile).map((path) => ({ path, bytes: readFileSync(join(repository, path)) }));
}

/** All files of the documentation's site. */
export async function documentationSite(repository: string): Promise<SiteFile[]> {
  const templates = await templatesFor(repository);
  const pages = readPages(repository);
  const index = pages.map(({ path, title, sections }) => [
    path,
    title,
    sections.map(({ anchor, heading, text }) => [anchor, heading, text.trim()]),
  ]);
  return [
    ...pages.map(({ path, title, html }) => ({ path, bytes: htmlOf(path, title, html, templates) })),
    {
      path: "search/index.html",
      bytes: htmlOf("search/index.html", "Search", searchBody, templates, "search"),
    },
    { path: "search/index.json", bytes: JSON.stringify({ pages: index }) },
    ...(["style.css", "script.js", "search.js", "favicon.svg"] as const).map((name) => ({
      path: templates.assetPath(name),
      bytes: templates.asset(name),
    })),
    ...linkedFiles(repository, pages),
  ];
}
