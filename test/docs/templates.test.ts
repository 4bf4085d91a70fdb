import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { pageTemplates } from "../../pipeline/documents/pages/page-templates.ts";
import { pageModels } from "../../pipeline/site/pages/page-models.ts";
import { repository } from "../support/run.ts";

const intro = `# Brand and templates

## Brand
\`brand:\` in \`releases/catalog.yaml\` gives the pages your name, logo and color. Every member may be left out. Put the pictures into
\`releases/brand/\` and commit them. \`relcat build\` applies the changes:

\`\`\`yaml
brand:
  name: Acme Downloads # in the header; default: product
  logo: brand/logo.svg # SVG or PNG in releases/brand/, at most 100 kB
  favicon: brand/icon.svg
  accent: "#7a1fa2" # or { light: "#7a1fa2", dark: "#c48ee6" }
  home: https://www.acme.example
  support: mailto:help@acme.example
  footer: © Acme GmbH, Berlin
\`\`\`

A drawing (SVG) may only have shapes, text and styles of its own file. \`relcat check\` names every element, attribute and address that runs or loads something, with its line and
column. Files of Inkscape, Figma, Sketch and Affinity usually pass as they are. In Illustrator, use Export As, or save without "Preserve Illustrator Editing Capabilities".
In Figma, remove background blurs, which only HTML can draw. A drawing that is not well-formed XML is refused, because browsers show an error in place of it.

The accent is the color of links and buttons. \`relcat check\` refuses a color that is hard to read (WCAG AA), and names the nearest one that it
accepts. If you give one color, dark pages use a lighter one.

## Templates
If that is not enough, replace a template. The file is yours from then on, and relcat's own is no longer used.

1. \`relcat templates list\` shows what each template is for.
2. \`relcat templates eject home.hbs\` writes \`releases/templates/home.hbs\`.
3. Edit it, run \`relcat serve --watch\`, and look at <http://127.0.0.1:8080/>. Commit \`releases/templates/\`.

To return to relcat's own template, delete the file.

Templates are [Handlebars](https://handlebarsjs.com/guide/) with the helpers \`if\`, \`unless\`, \`each\` and \`with\`.

- The first line names the template and the version of its values, such as \`{{! relcat-template: home.hbs 2 }}\`. If a later relcat removes or renames a
  value, it raises the version and refuses the old file, so that a page never loses content silently.
- A value that the page does not have is an error with its line and column.
- \`{{value}}\` escapes HTML. \`{{{valueHtml}}}\` is only for values whose names end in \`Html\`.
- Pages have a strict Content-Security-Policy: no inline scripts or styles, and nothing from other hosts. \`relcat check\` refuses both. Write styles into
  \`style.css\` and scripts into \`script.js\`.
- \`relcat check\` reads the HTML as browsers do, and accepts the usual elements and attributes of HTML and SVG by name. Frames, plug-ins, \`base\` and
  \`meta http-equiv\` are refused. Addresses are paths, or begin with https:, http: or mailto:.
- A block such as \`{{#if}}\` may contain whole tags, or attributes of a tag, or a part of a value, but not the beginning of one of them without its end.
- Templates that a page includes get the values of that page.

## Values of each template
Members of a list are indented below it. \`?\` marks a value that may be \`null\`.
`;

interface JsonSchema {
  type?: string;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

function members(schema: JsonSchema, indent = ""): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, written]) => {
    const inner = written.anyOf?.find(({ type }) => type !== "null") ?? written;
    const mark = written.anyOf?.some(({ type }) => type === "null") ? "?" : "";
    if (inner.type === "array")
      return [`${indent}- \`${name}\`${mark}: list${inner.items?.properties ? "" : " of texts"}`].concat(
        members(inner.items ?? {}, `${indent}  `),
      );
    if (inner.properties) return [`${indent}- \`${name}\`${mark}`, ...members(inner, `${indent}  `)];
    return [`${indent}- \`${name}\`${mark}: ${words[inner.type ?? ""]}`];
  });
}

const words: Record<string, string> = { string: "text", boolean: "true or false", integer: "number" };

/** The layout's values are the same on every page, so they are listed once. */
const withoutLayout = ({ properties = {} }: JsonSchema): JsonSchema => {
  const { layout: _, ...rest } = properties;
  return { properties: rest };
};

function sectionOf([file, { version, use }]: [string, { version: number; use: string }]): string {
  const name = file.replace(".hbs", "") as keyof typeof pageModels;
  const model = name in pageModels ? (z.toJSONSchema(pageModels[name]) as JsonSchema) : undefined;
  const home = z.toJSONSchema(pageModels.home) as JsonSchema;
  const lines =
    file === "layout.hbs"
      ? members({ properties: { layout: home.properties?.layout ?? {} } })
      : model
        ? members(withoutLayout(model))
        : [];
  const list = lines.length > 0 ? `\n${lines.join("\n")}\n` : "";
  return `### ${file}\nVersion ${version}: ${use}.\n${list}`;
}

test("docs/templates.md lists the values of every template", async () => {
  const text = `${intro}\n${Object.entries(pageTemplates).map(sectionOf).join("\n")}`;
  await expect(text).toMatchFileSnapshot(join(repository, "docs/templates.md"));
});
