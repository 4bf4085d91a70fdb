import { createHash } from "node:crypto";
import Handlebars from "handlebars";
import { caching } from "../../../service/http/answers.ts";
import { type ServerAnswer, wholeAnswer } from "../../../service/http/request.ts";
import { readPageFiles } from "../node-files.ts";

const options: CompileOptions = {
  strict: true,
  knownHelpersOnly: true,
  knownHelpers: { log: false, lookup: false },
  preventIndent: true,
};

const folder = "controller/";
const types: Record<string, string> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

let site: ReturnType<typeof siteOf> | undefined;

/** Built for the first page, so that a controller without visitors reads no templates. */
function theSite() {
  site ??= siteOf(readPageFiles());
  return site;
}

function siteOf(files: ReadonlyMap<string, string>) {
  const environment = Handlebars.create();
  const pages = new Map<string, Handlebars.TemplateDelegate>();
  const assets = new Map<string, { type: string; text: string }>();
  const published = new Map<string, string>();
  for (const [file, text] of files) {
    const name = file.replace(folder, "");
    const [stem = "", ending = ""] = name.split(".");
    if (ending === "hbs") {
      const template = environment.compile(text, options);
      environment.registerPartial(stem, template);
      pages.set(stem, template);
      continue;
    }
    const path = `/assets/${stem}.${createHash("sha256").update(text).digest("hex").slice(0, 8)}.${ending}`;
    assets.set(path, { type: types[ending] ?? "", text });
    published.set(file, path);
  }
  const path = (file: string) => published.get(file) ?? "";
  const paths = {
    style: path("style.css"),
    ownStyle: path(`${folder}controller.css`),
    script: path("script.js"),
    ownScript: path(`${folder}controller.js`),
    icon: path("favicon.svg"),
  };
  return { pages, assets, paths };
}

export const assetPaths = () => theSite().paths;

/** Renders HTML; every value of the model is escaped. @throws Error if the model lacks a value */
export function render(name: string, model: object): string {
  const template = theSite().pages.get(name);
  if (!template) throw new Error(`templates/controller/${name}.hbs is missing`);
  return template(model);
}

/** Assets are cacheable forever, because their path contains a hash of their content. */
export function answerAsset(path: string, headers: Record<string, string>): ServerAnswer | undefined {
  const asset = theSite().assets.get(path);
  if (!asset) return undefined;
  return wholeAnswer(
    200,
    { ...headers, "Content-Type": asset.type, "Cache-Control": caching.immutable },
    asset.text,
  );
}

export const pagePolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
  "frame-ancestors 'none'";
