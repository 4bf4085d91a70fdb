import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

/**
 * Compares what two contenders wrote: the list and each release as values, each page by what it says and where its
 * links lead. How a page is marked up is everybody's own.
 * @throws Error that names the first file that differs
 */
export function requireSameOutputs(reference: string, other: string): void {
  requireSame(join(reference, "list.json"), join(other, "list.json"));
  const expected = namesIn(reference);
  const found = namesIn(other);
  if (!isDeepStrictEqual(found, expected))
    throw new Error(
      `${other}/releases has ${found.length} files, expected ${expected.length}: ${expected[0]}…`,
    );
  for (const name of expected) {
    const path = join("releases", name);
    if (name.endsWith(".json")) requireSame(join(reference, path), join(other, path));
    else requireSamePage(reference, other, path);
  }
}

/**
 * Compares the outputs with the files of a whole site that say the same.
 * @throws Error that names the first file that differs
 */
export function requireSameSite(reference: string, site: string): void {
  requireSame(join(reference, "list.json"), join(site, "api/v1/package.json"));
  for (const name of namesIn(reference).filter((each) => each.endsWith(".json"))) {
    const version = name.slice(0, -".json".length);
    requireSame(join(reference, "releases", name), join(site, "api/v1/release", version, "index.json"));
  }
}

const namesIn = (folder: string): string[] => readdirSync(join(folder, "releases")).sort();

function requireSame(expected: string, found: string): void {
  const [one, other] = [expected, found].map((path) => JSON.parse(readFileSync(path, "utf8")));
  if (!isDeepStrictEqual(one, other)) throw new Error(`${found} says something else than ${expected}`);
}

function requireSamePage(reference: string, other: string, path: string): void {
  const [expected = "", found = ""] = [reference, other].map((folder) =>
    comparableText(readFileSync(join(folder, path), "utf8")),
  );
  if (found === expected) return;
  let at = 0;
  while (found[at] === expected[at]) at++;
  const [theirs, ours] = [found, expected].map((text) => JSON.stringify(text.slice(at - 20, at + 40)));
  throw new Error(`${join(other, path)} says ${theirs}, expected ${ours}`);
}

const meant = ["strong", "em", "code", "li", "h1", "tr"];

/** The words of a page without white space, its links and its emphasis. */
function comparableText(html: string): string {
  const body = html.slice(html.indexOf("<body"));
  return body
    .replace(/<(\/?)(\w+)([^>]*)>/g, (_, close: string, tag: string, attributes: string) => {
      const href = /href="?([^"\s]*)/.exec(attributes)?.[1];
      if (href !== undefined) return `(${href})`;
      return meant.includes(tag.toLowerCase()) && close === "" ? `(${tag.toLowerCase()})` : "";
    })
    .replace(/&(?:#(x?)([0-9a-f]+)|(\w+));/gi, (whole, hex: string, code: string, name: string) =>
      code ? String.fromCodePoint(Number.parseInt(code, hex ? 16 : 10)) : (entities[name] ?? whole),
    )
    .replace(/\s+/g, "");
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
