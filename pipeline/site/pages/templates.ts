import { createHash } from "node:crypto";
import Handlebars from "handlebars";
import { failure, RelcatError } from "../../errors.ts";
import { visible } from "../escape.ts";
import { type PageModel, type PageName, pageModels } from "./page-models.ts";

/** Assets in the templates folder. */
export type AssetName = "style.css" | "script.js" | "search.js" | "changes.js" | "favicon.svg";

/** The site's templates, compiled once. */
export interface Templates {
  /**
   * Renders a page as HTML, without control characters.
   * @throws RelcatError `template` if the template needs a value that the model lacks
   */
  render<Name extends PageName>(page: Name, model: PageModel<Name>): string;
  asset(name: AssetName): string;
  /** Published path of an asset, which changes with its content. */
  assetPath(name: AssetName): string;
}

const pages = Object.keys(pageModels) as PageName[];
export const assets: readonly AssetName[] = [
  "style.css",
  "script.js",
  "search.js",
  "changes.js",
  "favicon.svg",
];

const options: CompileOptions = {
  strict: true,
  knownHelpersOnly: true,
  // Disables two helpers by which data could choose names; if, each, unless and with stay available.
  knownHelpers: { log: false, lookup: false },
  preventIndent: true,
};

/**
 * Compiles templates/: one `.hbs` per page, every other `.hbs` a partial, and assets. Subfolders have other
 * uses.
 * @param sources file name and text
 * @throws RelcatError `template` for a missing file or a syntax error
 */
export function compileTemplates(sources: ReadonlyMap<string, string>): Templates {
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
  for (const [file, source] of sources) {
    if (!file.endsWith(".hbs") || file.includes("/")) continue;
    const name = file.slice(0, -".hbs".length);
    const template = inTemplate(file, () => environment.compile(parsed(source), options));
    if (name in pageModels) compiled.set(name, template);
    else environment.registerPartial(name, template);
  }
  const asset = (name: AssetName) => sources.get(name) ?? "";
  const paths = new Map(assets.map((name) => [name, publishedPath(name, asset(name))]));
  return {
    render: (page, model) => render(page, compiled.get(page), model),
    asset,
    assetPath: (name) => paths.get(name) ?? name,
  };
}

/** Handlebars compiles lazily; parsing reports syntax errors before any page is rendered. */
const parsed = (source: string) => Handlebars.parse(source);

/** Tests validate the models; doing that here would take a tenth of a build. */
function render<Name extends PageName>(
  page: Name,
  template: Handlebars.TemplateDelegate | undefined,
  model: PageModel<Name>,
): string {
  return inTemplate(`${page}.hbs`, () => {
    const html = template?.(model) ?? "";
    // The page that contains such a piece is checked as a whole.
    return page === "row" || page === "install-lines" ? html : visible(html);
  });
}

function inTemplate<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof RelcatError) throw cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    throw failure(
      "template",
      `templates/${file}: ${message}`,
      "Compare it with relcat's own template.",
      undefined,
      cause,
    );
  }
}

function publishedPath(name: AssetName, text: string): string {
  if (name === "favicon.svg") return name;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return `assets/${name.replace(".", `.${digest}.`)}`;
}
