import type { OutputFile } from "../../documents/published.ts";
import { textFile } from "../output.ts";
import type { AssetName, Templates } from "./templates.ts";

/** Paths of assets, relative to the site's root. */
export interface AssetNames {
  style: string;
  script: string;
  search: string;
  icon: string;
}

export const assetNames = (templates: Templates): AssetNames => ({
  style: templates.assetPath("style.css"),
  script: templates.assetPath("script.js"),
  search: templates.assetPath("search.js"),
  icon: templates.assetPath("favicon.svg"),
});

/** Style sheet, script, icon and robots.txt. */
export function assetFiles(templates: Templates): OutputFile[] {
  const names: readonly AssetName[] = ["style.css", "script.js", "search.js", "favicon.svg"];
  return [
    ...names.map((name) => textFile(templates.assetPath(name), templates.asset(name))),
    textFile("robots.txt", "User-agent: *\nAllow: /\n"),
  ];
}
