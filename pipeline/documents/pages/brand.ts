import { z } from "zod";
import { expects, line, object, text } from "../../../shared/fields.ts";

const color = text("option-value", /^#[0-9a-f]{6}$/i, 'a color in quotes such as "#00656a"');
const address = text("url-format", /^https?:\/\/[^\s/\\]\S*$/, "an http or https URL");
const contact = text("url-format", /^(?:https?:\/\/|mailto:)[^\s/\\]\S*$/, "an https URL or mailto:ADDRESS");
const picture = text(
  "path-format",
  /^brand\/[A-Za-z0-9][A-Za-z0-9._-]*\.(?:svg|png)$/,
  "an SVG or PNG file in brand/ next to catalog.yaml, such as brand/logo.svg",
);

export const brandSchema = object({
  name: line.optional().describe("Name in the header of every page; default: product."),
  logo: picture.optional().describe("SVG or PNG file in brand/, shown before the name."),
  favicon: picture.optional().describe("SVG or PNG file in brand/, for the browser's tab."),
  accent: z
    .union(
      [
        color,
        object({
          light: color.describe("Color on light pages."),
          dark: color.describe("Color on dark pages."),
        }),
      ],
      expects("wrong-type", 'a color in quotes such as "#00656a", or an object {light, dark}'),
    )
    .optional()
    .describe("Color of links and buttons. A single color is for light pages; dark pages use a lighter one."),
  home: address.optional().describe("Your own site, linked in the footer."),
  support: contact.optional().describe("Where customers get help, linked in the footer."),
  footer: line.optional().describe("Line at the end of every page, such as a company's name."),
});

export type WrittenBrand = z.infer<typeof brandSchema>;

/** A color per color scheme, as #rrggbb. */
export interface Accent {
  light: string;
  dark: string;
}

export interface Picture {
  path: string;
  base64: string;
  /** In pixels, or in units of the drawing; only their ratio is used. */
  width: number;
  height: number;
}

/** How pages look, and whom they name. Empty texts are left out of pages. */
export interface BrandSettings {
  name: string;
  accent: Accent | undefined;
  home: string;
  support: string;
  footer: string;
  /** Files as written; empty without one. */
  files: { logo: string; favicon: string };
}

export interface Brand extends BrandSettings {
  logo: Picture | undefined;
  favicon: Picture | undefined;
}

export interface TemplateOverride {
  name: string;
  /** Path for messages. */
  file: string;
  text: string;
}
