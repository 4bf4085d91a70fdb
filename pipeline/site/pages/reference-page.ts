import { type ApiDocument, apiReference } from "../../../shared/api-reference.ts";
import type { OutputFile } from "../../documents/published.ts";
import { type PageSite, page } from "./page-layout.ts";

export function referencePage(document: ApiDocument, site: PageSite): OutputFile {
  const { product, baseUrl } = site.config;
  const description = `Requests, parameters and answers of the HTTP API of ${product}.`;
  // The site has the schemas as files of their own: schemas/.
  const withoutSchemas = { ...document, components: { ...document.components, schemas: {} } };
  const head = { title: "API reference", description };
  return page("api/reference/index.html", "reference", head, site, (layout) => ({
    layout,
    browse: "../v1/package/?format=api",
    openapi: "../../openapi.json",
    // Pages must be asked for JSON, and a redirect would leave the site.
    ...apiReference(withoutSchemas, baseUrl, (address) => `../..${address}?format=json`),
  }));
}
