import { createHash } from "node:crypto";
import Handlebars from "handlebars";
import { failure, RelcatError } from "../../../shared/errors.ts";
import type { Accent, TemplateOverride } from "../../documents/pages/brand.ts";
import type { OutputFile, SiteConfig } from "../../documents/published.ts";
import { visible } from "../escape.ts";
import { textFile } from "../output.ts";
import { bundledTemplates } from "./bundled-templates.ts";
import { type PageModel, type PageName, pageModels } from "./page-models.ts";

const assets = ["style.css", "script.js", "search.js", "changes.js", "favicon.svg"] as const;
type AssetName = (typeof assets)[number];

export interface Templates {
  /** Removes control characters. @throws RelcatError `template` if the template needs a value that the model lacks */
  render<Name extends PageName>(page: Name, model: PageModel<Name>): string;
  asset(name: AssetName): string;
  /** Published path of an asset, which changes with its content. */
  assetPath(name: AssetName): string;
}

const pages = Object.keys(pageModels) as PageName[];

const options: CompileOptions = {
  strict: true,
  knownHelpersOnly: true,
  // Disables two helpers by which data could choose names; if, each, unless and with stay available.
  knownHelpers: { log: false, lookup: false },
  preventIndent: true,
};

/**
 * Each `.hbs` that is no page is a partial. Subfolders have other uses.
 * @param shown path of a file for messages, unless it is relcat's own
 * @throws RelcatError `template` for a missing file or a syntax error
 */
export function compileTemplates(
  sources: ReadonlyMap<string, string>,
  shown: ReadonlyMap<string, string> = new Map(),
): Templates {
  const needed = [...pages.map((page) => `${page}.hbs`), ...assets];
  const missing = needed.filter((name) => !sources.has(name));
  if (missing.length > 0) {
    throw failure(
      "template",
      `templates/ lacks ${missing.join(", ")}`,
      "Restore them from relcat's own templates.",
    );
  }
  const environment = Handlebars.create();
  const compiled = new Map<string, Handlebars.TemplateDelegate>();
  const files: string[] = [];
  for (const { file, name, source, index, digest } of templatesIn(sources)) {
    files.push(shown.get(file) ?? `templates/${file}`);
    const bundled = bundledTemplates.get(digest);
    const template = bundled
      ? environment.template(bundled)
      : environment.compile(
          inTemplate(files, index, () => parsed(source, index)),
          options,
        );
    if (name in pageModels) compiled.set(name, template);
    else environment.registerPartial(name, template);
  }
  const asset = (name: AssetName) => sources.get(name) ?? "";
  const paths = new Map(assets.map((name) => [name, publishedPath(name, asset(name))]));
  return {
    // Tests validate the models; doing that here would take a tenth of a build.
    render(page, model) {
      const file = files.indexOf(shown.get(`${page}.hbs`) ?? `templates/${page}.hbs`);
      const html = inTemplate(files, file, () => compiled.get(page)?.(model) ?? "");
      // The page that contains a row is checked as a whole.
      return page === "row" ? html : visible(html);
    },
    asset,
    assetPath: (name) => paths.get(name) ?? name,
  };
}

/** @returns JavaScript of a module like bundled-templates.ts, for the bundle */
export function compiledModule(sources: ReadonlyMap<string, string>): string {
  const entries = [...templatesIn(sources)].map(
    ({ source, index, digest }) =>
      `[${JSON.stringify(digest)}, ${Handlebars.precompile(parsed(source, index), options)}]`,
  );
  return `export const bundledTemplates = new Map([\n${entries.join(",\n")},\n]);\n`;
}

/** Templates and partials. The digest includes the number of the file, because the compiled code does. */
function* templatesIn(sources: ReadonlyMap<string, string>) {
  let index = 0;
  for (const [file, source] of sources) {
    if (!file.endsWith(".hbs") || file.includes("/")) continue;
    const digest = createHash("sha256").update(`${index}\n${source}`).digest("hex");
    yield { file, name: file.slice(0, -".hbs".length), source, index, digest };
    index++;
  }
}

/** Errors state a line and no file, so the lines of each file are counted from a multiple of this. */
const linesPerFile = 1_000_000;

/** Handlebars compiles lazily; parsing reports syntax errors before any page is rendered. */
function parsed(source: string, file: number): hbs.AST.Program {
  const program = Handlebars.parse(source);
  countFrom(file * linesPerFile, program);
  return program;
}

function countFrom(first: number, node: object): void {
  if ("loc" in node) {
    const { start } = node.loc as hbs.AST.SourceLocation;
    start.line = first + (start.line % linesPerFile); // Some nodes share a location.
  }
  for (const below of Object.values(node))
    if (below !== null && typeof below === "object") countFrom(first, below);
}

/** @param file index of the file to name if the error has no line */
function inTemplate<Result>(files: readonly string[], file: number, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof RelcatError) throw cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    const [end, line = "0", column = "0"] = / - (\d+):(\d+)$/.exec(message) ?? [];
    const counted = Number(line);
    const at = {
      file: files[counted < linesPerFile ? file : Math.floor(counted / linesPerFile)] ?? "",
      line: Math.max(1, counted % linesPerFile),
      column: Number(column) + 1,
    };
    const hint = "Compare it with relcat's own template: relcat templates show NAME.";
    throw failure(
      "template",
      plainly(message.slice(0, message.length - (end?.length ?? 0))),
      hint,
      at,
      cause,
    );
  }
}

/** Handlebars' words for a value that the model lacks say nothing of pages. */
const plainly = (message: string): string =>
  message.replace(/^("[^"]*") not defined in .*$/s, "the page has no value $1 here");

function publishedPath(name: AssetName, text: string): string {
  if (name === "favicon.svg") return name;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return `assets/${name.replace(".", `.${digest}.`)}`;
}

export const assetNames = (templates: Templates) => ({
  style: templates.assetPath("style.css"),
  script: templates.assetPath("script.js"),
  search: templates.assetPath("search.js"),
  changes: templates.assetPath("changes.js"),
  icon: templates.assetPath("favicon.svg"),
});

export function assetFiles(
  templates: Templates,
  { baseUrl, brand }: Pick<SiteConfig, "baseUrl" | "brand">,
): OutputFile[] {
  return [
    ...assets.map((name) => textFile(templates.assetPath(name), templates.asset(name))),
    ...[brand.logo, brand.favicon].flatMap((picture) =>
      picture ? [{ path: picture.path, chunks: [Buffer.from(picture.base64, "base64")] }] : [],
    ),
    textFile("robots.txt", `User-agent: *\nAllow: /\nSitemap: ${baseUrl}/sitemap.xml\n`),
  ];
}

/** relcat's templates with those of the project in their place, and with the project's accent color. */
export function projectTemplates(
  own: ReadonlyMap<string, string>,
  { templates, brand }: Pick<SiteConfig, "templates" | "brand">,
): Templates {
  const sources = new Map([...own, ...templates.map((each) => [each.name, sourceOf(each)] as const)]);
  if (brand.accent) sources.set("style.css", `${sources.get("style.css") ?? ""}${accentRules(brand.accent)}`);
  return compileTemplates(sources, new Map(templates.map(({ name, file }) => [name, file])));
}

/** In a page, the first line is a comment of the template; in an asset, visitors would load it. */
const sourceOf = ({ name, text }: TemplateOverride): string =>
  name.endsWith(".hbs") ? text : text.slice(text.indexOf("\n") + 1);

/** Printed pages stay black on white. */
const accentRules = ({ light, dark }: Accent): string =>
  `@media screen {\n  ${accentRule(light)}\n}\n` +
  `@media screen and (prefers-color-scheme: dark) {\n  ${accentRule(dark)}\n}\n`;

const accentRule = (color: string): string => `:root {\n    --link: ${color};\n    --mark: ${color};\n  }`;
