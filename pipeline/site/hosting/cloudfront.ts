import {
  allow,
  bodies,
  description,
  descriptions,
  fileDescription,
  hashedAsset,
  securityHeaders,
  vary,
} from "../../documents/api-answers.ts";
import { cacheControl as caching, registryDigest, registryVersion } from "../../documents/file-headers.ts";
import { contentPolicies } from "../../documents/pages/content-security-policy.ts";
import type { OutputFile } from "../../documents/published.ts";
import { documentFolders } from "../../documents/site-paths.ts";
import { filterFields } from "../../selection/fields.ts";
import { jsonFile, textFile } from "../output.ts";
import { type Routing, wholeList } from "./routing.ts";
import { acceptRules, flagRules, type Rule, ready, settings, slashless, variants } from "./rules.ts";
import type { FeedRule, HostSources } from "./sources.ts";

const folder = "hosting/cloudfront";

/** A function before the cache with its lookup table, and one after it: only that one can set headers of a file. */
export function cloudfrontFiles({ routing, templates, feeds, tags }: HostSources): OutputFile[] {
  return [
    jsonFile(`${folder}/redirects.json`, { data: [...storeEntries(routing), ...tagEntries(tags)] }),
    textFile(`${folder}/viewer-request.js`, withSite(templates, "viewer-request.js", requestSite(routing))),
    textFile(`${folder}/viewer-response.js`, withSite(templates, "viewer-response.js", responseSite(feeds))),
  ];
}

function withSite(templates: ReadonlyMap<string, string>, name: string, site: object): string {
  const text = templates.get(`hosting/cloudfront/${name}`) ?? "";
  return withoutSpace(text).replace("site={};", () => `site=${literal(site)};`);
}

/** CloudFront limits functions to 10 KB, so comments are removed except the first lines. */
function withoutSpace(text: string): string {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => !line.startsWith("//"));
  const code = lines.slice(start).filter((line) => line !== "" && !/^ *\/\//.test(line));
  return [...lines.slice(0, start), ...code.map(packed), ""].join("\n");
}

const literals = /("(?:[^"\\]|\\.)*"|`[^`]*`|\/(?:\[[^\]]*\]|[^/[])+\/)/;

/** Outside of strings and patterns, space only separates words. */
const packed = (line: string): string =>
  line
    .trim()
    .split(literals)
    .map((part, index) => (index % 2 === 0 ? part.replace(/ ?([^\w $]+) ?/g, "$1") : part))
    .join("");

/** JavaScript source of a value; patterns become regular expressions. */
function literal(value: unknown): string {
  if (value instanceof RegExp) return String(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, each]) => `${/^[a-z]+$/i.test(key) ? key : JSON.stringify(key)}:${literal(each)}`,
  );
  return `{${members.join(",\n")}}`;
}

const pattern = (text: string) =>
  text.startsWith("(?i)") ? new RegExp(text.slice(4), "i") : new RegExp(text);

const patterns = (rules: readonly Rule[]) => rules.map(([text, result]) => [pattern(text), result]);

const lowerCase = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const requestSite = ({ base, values, otherScopes, otherLists, otherLatest }: Routing) => ({
  base,
  always: lowerCase(securityHeaders),
  public: caching.public,
  allow,
  vary: vary.negotiated,
  accept: patterns(acceptRules),
  format: [
    [/^$/, "accept"],
    [/^json$/, "json"],
    [/^api$/, "html"],
  ],
  flags: patterns(flagRules),
  otherScopes: patterns(otherScopes),
  otherLists: patterns(otherLists),
  otherLatest: patterns(otherLatest),
  fields: filterFields.join("|"),
  ready: ready.join("|"),
  variants: variants.join("|"),
  settings: settings.join("|"),
  slashless: pattern(slashless),
  // Those with a page or a document.
  folders:
    /^[/](?:(?:releases(?:[/]channels)?|changes|platforms|api[/]v1[/]release)(?:[/](?!index[.])[^/]+)?|feeds|search|api[/](?:reference|v1[/]channel)|(?:api[/]v1[/]package[/])?page[/][0-9./]*[0-9])$/,
  list: wholeList,
  newest: "api/v1/package/ordering=-id.json",
  page: "api/v1/package/index.html",
  unready: Object.values(values).some((rules) => rules.some(([, name]) => name === "unready")),
});

const responseSite = (feeds: readonly FeedRule[]) => ({
  always: lowerCase(securityHeaders),
  public: caching.public,
  immutable: caching.immutable,
  download: caching.artifact,
  policies: contentPolicies,
  allow,
  vary: vary.negotiated,
  asset: pattern(`^${hashedAsset}$`),
  artifact: pattern(`^/(?!${documentFolders})[^/]+/.`),
  packages: /^[/](?:api[/]v1[/]package[/]|facets[/])/,
  list: /^[/]api[/]v1[/]package[/](?:index[.]|ordering=)|^[/]facets[/]/,
  feed: anyOf(feeds),
  // A tag resolves to a file that is named by its digest; tomorrow the tag may resolve to another one.
  hashed: anyOf(feeds.filter((rule) => rule.isImmutable && !rule.contentType.startsWith("application/vnd."))),
  upload: caching.upload,
  registry: feeds.some(({ isRegistry }) => isRegistry) ? lowerCase(registryVersion) : {},
  digest: registryDigest.toLowerCase(),
});

/** Never matches without rules. */
const anyOf = (rules: readonly FeedRule[]) =>
  pattern(rules.length === 0 ? "^$" : `^/(?:${rules.map((rule) => rule.pattern).join("|")})$`);

/** Size limit for a value of the store, in bytes. */
const maxValueLength = 1024;

function storeEntries({ scopes, lists, downloads, gone, latest }: Routing) {
  const entries = (prefix: string, table: Iterable<readonly [string | number, string]>) =>
    Array.from(table, ([key, value]) => ({ key: `${prefix}:${key}`, value }));
  const texts = Object.entries(descriptions).map(([key, value]) => [key, description(value)] as const);
  return [
    ...entries("text", [...Object.entries({ ...bodies, file: fileDescription }), ...texts]),
    ...entries("scope", scopes),
    ...entries("list", lists),
    ...entries("latest", latest),
    ...entries("id", downloads),
    ...Array.from(gone, ([id, body]) => ({ key: `id:${id}`, value: `gone ${shortened(body)}` })),
  ];
}

export const tagEntries = (tags: ReadonlyMap<string, string>) =>
  Array.from(tags, ([path, digest]) => ({ key: `tag:/${path}`, value: digest }));

/** Shortens a long reason; the release's page has all of it. */
function shortened(body: string): string {
  const record = JSON.parse(body);
  while (new TextEncoder().encode(JSON.stringify(record)).length > maxValueLength - "gone ".length) {
    record.reason = `${[...record.reason].slice(0, -20).join("")}…`;
  }
  return JSON.stringify(record);
}
