import type { OutputFile, SiteConfig } from "../documents/published.ts";
import { textFile } from "./output.ts";

const apiDescription = "catalog.openapi.json";

/** Schemas in which `data` has its published key names. */
const withData = new Set(["package-record", "package-list", "release-document"]);

/**
 * `schemas/*.json`: schemas of published and authored documents, with the catalog's own key names inside
 * `data`.
 * @param sources JSON Schemas by file name
 */
export function schemaFiles(sources: ReadonlyMap<string, string>, wire: SiteConfig["wire"]): OutputFile[] {
  return [...sources].flatMap(([file, text]) => {
    if (!file.endsWith(".schema.json")) return [];
    const renamed = withData.has(file.replace(/\.schema\.json$/, "")) ? inWireNames(text, wire) : text;
    return textFile(`schemas/${file}`, renamed);
  });
}

/** The HTTP API with its published address. */
export function openApiDocument(
  sources: ReadonlyMap<string, string>,
  { wire, baseUrl }: Pick<SiteConfig, "wire" | "baseUrl">,
) {
  const document = JSON.parse(sources.get(apiDescription) ?? "{}");
  const schemas = document.components?.schemas;
  // Posted manifests keep the neutral names.
  if (schemas) schemas.Package = JSON.parse(inWireNames(JSON.stringify(schemas.Package), wire));
  return { ...document, servers: [{ url: baseUrl }] };
}

function inWireNames(text: string, wire: SiteConfig["wire"]): string {
  const names: Record<string, string> = { ...wire };
  const rename = (value: unknown, isProperties: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => rename(item, false));
    if (value === null || typeof value !== "object") return value;
    const entries = Object.entries(value).map(([key, item]) => [
      isProperties ? (names[key] ?? key) : key,
      rename(item, !isProperties && key === "properties"),
    ]);
    return Object.fromEntries(entries);
  };
  return `${JSON.stringify(rename(JSON.parse(text), false), null, 2)}\n`;
}
