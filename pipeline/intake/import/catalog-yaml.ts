import { type Document, isMap, parseDocument } from "yaml";
import type { Settings } from "../../documents/config.ts";
import type { CatalogRows } from "./catalog-rows.ts";

export interface CatalogChanges extends CatalogRows {
  wire: Partial<Settings["wire"]>;
}

/**
 * Applies the changes and keeps comments and everything else; without changes, the text stays identical.
 * @param text current content, undefined if the file is missing
 * @param schemas folder of the JSON Schemas, relative to the project
 */
export function catalogYaml(
  text: string | undefined,
  changes: CatalogChanges,
  schemas: string,
): string | undefined {
  if (Object.values(changes).every((section) => Object.keys(section).length === 0)) return text;
  const document = parseDocument(text ?? newCatalog(schemas));
  if (!isMap(document.contents))
    document.contents = document.createNode({}) as unknown as typeof document.contents;
  for (const [key, name] of Object.entries(changes.wire)) put(document, ["wire", key], name);
  for (const [id, name] of Object.entries(changes.platforms)) put(document, ["platforms", id], name);
  for (const [type, row] of Object.entries(changes.package_types)) {
    if (document.hasIn(["package_types", type])) {
      for (const [key, value] of Object.entries(row)) put(document, ["package_types", type, key], value);
    } else put(document, ["package_types", type], document.createNode(row, { flow: true }));
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

function put(document: Document, path: readonly string[], value: unknown): void {
  const [section = ""] = path;
  if (!document.has(section)) document.set(section, document.createNode({}));
  document.setIn(path, value);
}

const newCatalog = (schemas: string) => `# yaml-language-server: $schema=../${schemas}/catalog.schema.json
#
# Every field has a default. Key names, package types and platforms are those of the imported catalog: give the
# platforms their names, and the site its product, base_url and artifact_url.
`;
