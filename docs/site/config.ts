import type { SiteConfig } from "../../pipeline/documents/published.ts";
import { readConfig } from "../../pipeline/project/read-config.ts";

/** The configuration that names the documentation's pages. */
export const defaultConfig: SiteConfig = readConfig(
  "catalog.yaml",
  new TextEncoder().encode("product: relcat\n"),
).config;
