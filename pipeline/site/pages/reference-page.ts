import { type ApiDocument, apiReference } from "../../../shared/api-reference.ts";
import type { OutputFile, SiteConfig } from "../../documents/published.ts";
import { page, pageLayout } from "./page-layout.ts";
import type { Templates } from "./templates.ts";

/** `api/reference/`: each request of the API, with a line for curl and a link for those that need no input. */
export function referencePage(document: ApiDocument, config: SiteConfig, templates: Templates): OutputFile {
  const path = "api/reference/index.html";
  const description = `Requests, parameters and answers of the HTTP API of ${config.product}.`;
  // The site has the schemas as files of their own: schemas/.
  const withoutSchemas = { ...document, components: { ...document.components, schemas: {} } };
  return page(path, "reference", templates, () => ({
    layout: pageLayout(path, { title: "API reference", description }, config, templates),
    browse: "../v1/package/?format=api",
    openapi: "../../openapi.json",
    // Pages must be asked for JSON, and a redirect would leave the site.
    ...apiReference(withoutSchemas, config.baseUrl, (address) => `../..${address}?format=json`),
  }));
}
