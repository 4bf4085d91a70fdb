import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyProject, relcat } from "./run.ts";
import { readTree, type Tree } from "./tree.ts";

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 30"><rect width="90" height="30" rx="6" fill="#7a1fa2"/></svg>';

const brand = `
brand:
  name: Acme Downloads
  logo: brand/logo.svg
  favicon: brand/logo.svg
  accent: "#7a1fa2"
  home: https://www.acme.example
  support: mailto:help@acme.example
  footer: "© Acme GmbH, Berlin"
`;

/** Changes that the project makes in its copies of templates. */
const replaced = [
  ["home.hbs", "</h1>", "</h1>\n<p>Downloads of our own.</p>"],
  [
    "release.hbs",
    '<div class="split{{#if notesHtml}} beside{{/if}}">',
    '<p class="banner">Ask us before you upgrade.</p>\n<div class="split{{#if notesHtml}} beside{{/if}}">',
  ],
  ["layout.hbs", "<p>For programs:</p>", "<p>For programs and scripts:</p>"],
] as const;

/** The repository's sample with a brand and templates of its own, built for a base path. */
export async function brandedTree(): Promise<Tree> {
  const folder = copyProject(".");
  const inside = (path: string) => join(folder, "releases", path);
  const base = "base_url: https://downloads.example.com/some/base";
  const config = readFileSync(inside("catalog.yaml"), "utf8").replace(/^base_url: .*$/m, base);
  writeFileSync(inside("catalog.yaml"), config + brand);
  mkdirSync(inside("brand"));
  writeFileSync(inside("brand/logo.svg"), logo);
  for (const [name, text, own] of replaced) {
    await succeed(folder, "templates", "eject", name);
    const template = readFileSync(inside(`templates/${name}`), "utf8");
    if (!template.includes(text)) throw new Error(`${name} has no ${text}`);
    writeFileSync(inside(`templates/${name}`), template.replace(text, own));
  }
  await succeed(folder, "build");
  return readTree(join(folder, "dist"));
}

async function succeed(folder: string, ...args: string[]): Promise<void> {
  const { exitCode, stderr } = await relcat(folder, args);
  if (exitCode !== 0) throw new Error(stderr);
}
