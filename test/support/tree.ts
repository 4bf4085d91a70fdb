import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { type DefaultTreeAdapterTypes, parse } from "parse5";

/** The files of a built site by path, without relcat's working files and compressed siblings. */
export type Tree = Map<string, Buffer>;

const isSibling = (path: string, paths: ReadonlySet<string>) =>
  paths.has(path.replace(/\.(?:gz|br|zst)$/, "")) && /\.(?:gz|br|zst)$/.test(path);

export function readTree(folder: string): Tree {
  const files = allFiles(folder);
  const paths = new Set(files.keys());
  return new Map([...files].filter(([path]) => !isSibling(path, paths)));
}

/** The compressed files of a site, by path. */
export function readSiblings(folder: string): Tree {
  const files = allFiles(folder);
  const paths = new Set(files.keys());
  return new Map([...files].filter(([path]) => isSibling(path, paths)));
}

function allFiles(folder: string): Tree {
  // A published build has a link to the artifacts, which can be large.
  const linked = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
  const isLinked = (path: string) => linked.some(({ name }) => path.startsWith(`${join(folder, name)}/`));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !isLinked(`${entry.parentPath}/`))
    .map((entry) => posix.relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.split("/").some((part) => part.startsWith(".relcat-")));
  return new Map(files.sort().map((path) => [path, readFileSync(join(folder, path))]));
}

/** The paths at which two sites differ, one-sided ones included. */
export const differences = (a: Tree, b: Tree) =>
  [...new Set([...a.keys(), ...b.keys()])]
    .filter((path) => !a.get(path)?.equals(b.get(path) ?? Buffer.from("\0none")))
    .sort();

export const textOf = (tree: Tree, path: string) => {
  const bytes = tree.get(path);
  if (!bytes) throw new Error(`no ${path} among ${[...tree.keys()].join(" ")}`);
  return bytes.toString("utf8");
};

export const jsonOf = (tree: Tree, path: string) => JSON.parse(textOf(tree, path));

type Element = DefaultTreeAdapterTypes.Element;

/** Every element of a page, in document order. */
export function elements(html: string): Element[] {
  const found: Element[] = [];
  const visit = (node: DefaultTreeAdapterTypes.Node) => {
    if ("tagName" in node) found.push(node);
    if ("childNodes" in node) for (const child of node.childNodes) visit(child);
  };
  visit(parse(html));
  return found;
}

export const attribute = (element: Element, name: string) =>
  element.attrs.find((attr) => attr.name === name)?.value;

/** Broken links: `page → link` for every page, feed and API document of a site. */
export function brokenLinks(tree: Tree, baseUrl: string): string[] {
  const base = new URL(`${baseUrl}/`);
  const anchors = new Map<string, Set<string>>();
  const broken: string[] = [];
  for (const { from, link } of allLinks(tree, base)) {
    const url = new URL(link, new URL(from, base));
    if (url.origin !== base.origin || !url.pathname.startsWith(base.pathname)) continue;
    const path = decodeURIComponent(url.pathname.slice(base.pathname.length));
    if (path.startsWith("files/")) continue;
    const target = resolvePath(tree, path, url.search);
    if (target === undefined) broken.push(`${from} → ${link}`);
    else if (url.hash !== "" && target.endsWith(".html")) {
      const ids = anchors.get(target) ?? idsOf(textOf(tree, target));
      anchors.set(target, ids);
      if (!ids.has(decodeURIComponent(url.hash.slice(1)))) broken.push(`${from} → ${link} (no such id)`);
    }
  }
  return broken;
}

/** The page or the document of a folder, as on every host. */
function resolvePath(tree: Tree, path: string, query: string): string | undefined {
  const candidates =
    path === "" || path.endsWith("/")
      ? [`${path}index.html`, `${path}index.json`, `${path}gone.json`]
      : [path];
  if (query.includes("ordering=-id")) candidates.unshift(`${path}ordering=-id.json`);
  return candidates.find((candidate) => tree.has(candidate));
}

const idsOf = (html: string) => new Set(elements(html).flatMap((element) => attribute(element, "id") ?? []));

function* allLinks(tree: Tree, base: URL): Generator<{ from: string; link: string }> {
  for (const [path, bytes] of tree) {
    const text = bytes.toString("utf8");
    if (path.endsWith(".html")) for (const link of pageLinks(text)) yield { from: path, link };
    if (path.endsWith(".atom"))
      for (const [, link = ""] of text.matchAll(/href="([^"]*)"/g))
        yield { from: path, link: unescapeXml(link) };
    if (path.endsWith(".json") && !path.startsWith("schemas/")) {
      for (const value of strings(JSON.parse(text)))
        if (value.startsWith(base.href)) yield { from: path, link: value };
    }
  }
}

function* strings(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (value !== null && typeof value === "object")
    for (const item of Object.values(value)) yield* strings(item);
}

const unescapeXml = (text: string) => text.replaceAll("&amp;", "&");

function* pageLinks(html: string): Generator<string> {
  for (const element of elements(html)) {
    for (const name of ["href", "src", "action"]) {
      const link = attribute(element, name);
      if (link !== undefined) yield link;
    }
    const refresh = element.tagName === "meta" && attribute(element, "http-equiv") === "refresh";
    if (refresh) yield (attribute(element, "content") ?? "").replace(/^\d+;\s*url=/i, "");
  }
}
