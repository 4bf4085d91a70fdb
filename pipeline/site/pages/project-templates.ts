import type { Accent, TemplateOverride } from "../../documents/pages/brand.ts";
import type { SiteConfig } from "../../documents/published.ts";
import { compileTemplates, type Templates } from "./templates.ts";

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
