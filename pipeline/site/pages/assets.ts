import type { Picture } from "../../documents/pages/brand.ts";
import type { OutputFile, SiteConfig } from "../../documents/published.ts";
import { textFile } from "../output.ts";
import { assets, type Templates } from "./templates.ts";

/** Paths of assets, relative to the site's root. */
export const assetNames = (templates: Templates) => ({
  style: templates.assetPath("style.css"),
  script: templates.assetPath("script.js"),
  search: templates.assetPath("search.js"),
  changes: templates.assetPath("changes.js"),
  icon: templates.assetPath("favicon.svg"),
});

/** Style sheet, scripts, icons, the logo and robots.txt. */
export function assetFiles(
  templates: Templates,
  { baseUrl, brand }: Pick<SiteConfig, "baseUrl" | "brand">,
): OutputFile[] {
  return [
    ...assets.map((name) => textFile(templates.assetPath(name), templates.asset(name))),
    ...[brand.logo, brand.favicon].flatMap((picture) => (picture ? [pictureFile(picture)] : [])),
    textFile("robots.txt", `User-agent: *\nAllow: /\nSitemap: ${baseUrl}/sitemap.xml\n`),
  ];
}

const pictureFile = ({ path, base64 }: Picture): OutputFile => ({
  path,
  chunks: [Buffer.from(base64, "base64")],
});
