import type { SiteConfig } from "../../pipeline/documents/published.ts";
import { openProject } from "../../pipeline/ledger/open-project.ts";
import { filesOf } from "../../pipeline/project/authored-files.ts";

const files = filesOf(new Map([["catalog.yaml", new TextEncoder().encode("product: relcat\n")]]));

/** The configuration that names the documentation's pages. */
export const defaultConfig: SiteConfig = (await openProject(import.meta.dirname, files)).config;
