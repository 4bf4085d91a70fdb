import type { OutputFile, SiteConfig } from "../../documents/published.ts";
import { page, pageLayout } from "./page-layout.ts";
import type { PageModel } from "./page-models.ts";
import type { Templates } from "./templates.ts";

/** The parts of `openapi.json` that the page shows. relcat's own document has no references in these. */
export interface ApiDocument {
  info: { description: string };
  paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
}

interface ApiOperation {
  operationId: string;
  summary: string;
  description?: string;
  security: readonly unknown[];
  parameters?: readonly ApiParameter[];
  requestBody?: unknown;
  responses: Readonly<Record<string, { description: string }>>;
}

interface ApiParameter {
  in: string;
  name: string;
  description: string;
  required?: boolean;
  schema: { enum?: readonly string[] };
}

/** `api/reference/`: each request of the API, with a line for curl and a link for those that need no input. */
export function referencePage(document: ApiDocument, config: SiteConfig, templates: Templates): OutputFile {
  const path = "api/reference/index.html";
  const description = `Requests, parameters and answers of the HTTP API of ${config.product}.`;
  return page(path, "reference", templates, () => ({
    layout: pageLayout(path, { title: "API reference", description }, config, templates),
    description: document.info.description,
    browse: "../v1/package/?format=api",
    openapi: "../../openapi.json",
    operations: Object.entries(document.paths).flatMap(([address, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        operationModel(method.toUpperCase(), address, operation, config.baseUrl),
      ),
    ),
  }));
}

function operationModel(
  method: string,
  path: string,
  operation: ApiOperation,
  baseUrl: string,
): PageModel<"reference">["operations"][number] {
  const parameters = operation.parameters ?? [];
  const isOpen = method === "GET" && !parameters.some(({ required }) => required);
  return {
    anchor: operation.operationId,
    method,
    path,
    summary: operation.summary,
    description: operation.description ?? "",
    curl: curlLine(method, `${baseUrl}${path}`, operation),
    // Pages must be asked for JSON, and a redirect would leave the site.
    example: isOpen && "200" in operation.responses ? `../..${path}?format=json` : "",
    parameters: parameters.map(({ in: place, name, description, required = false, schema }) => {
      return { place, name, description, required, values: [...(schema.enum ?? [])] };
    }),
    answers: Object.entries(operation.responses).map(([status, { description }]) => ({
      status,
      description,
    })),
  };
}

/** Names in braces become capitals, to be replaced by the reader. */
function curlLine(method: string, url: string, { security, requestBody }: ApiOperation): string {
  const address = url.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase());
  return [
    "curl -fsSL",
    ...(security.length > 0 ? ["-H 'Authorization: Bearer KEY'"] : []),
    ...(requestBody === undefined
      ? ["-H 'Accept: application/json'"]
      : ["-H 'Content-Type: application/json'", "--data-binary @FILE"]),
    ...(method === "GET" ? [] : [`-X ${method}`]),
    `'${address}'`,
  ].join(" ");
}
