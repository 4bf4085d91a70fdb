import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { withPortablePatterns } from "../../pipeline/documents/portable-patterns.ts";
import type { Method, Route } from "./routes.ts";

/** What the description of an API says beside its routes. */
export interface ApiDescription<Operation extends string> {
  title: string;
  version: string;
  description: string;
  /** Every operation the routes name. */
  operations: Record<Operation, Omit<ZodOpenApiOperationObject, "operationId">>;
  securitySchemes?: NonNullable<
    NonNullable<Parameters<typeof createDocument>[0]["components"]>["securitySchemes"]
  >;
}

/** The OpenAPI 3.1 description of a table of routes; its server is the place it was fetched from. */
export function openApiOf<Operation extends string>(
  routes: readonly Route<Operation>[],
  { title, version, description, operations, securitySchemes }: ApiDescription<Operation>,
): object {
  const paths: ZodOpenApiPathsObject = {};
  for (const { path, operations: named } of routes) {
    const entries = Object.entries(named) as [Method, Operation][];
    paths[path.replace(/:(\w+)/g, "{$1}")] = Object.fromEntries(
      entries.map(([method, operationId]) => [
        method.toLowerCase(),
        { operationId, ...operations[operationId] } satisfies ZodOpenApiOperationObject,
      ]),
    );
  }
  return withPortablePatterns(
    createDocument({
      openapi: "3.1.1",
      info: { title, version, description, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
      servers: [{ url: "/" }],
      ...(securitySchemes && { components: { securitySchemes } }),
      paths,
    }),
  );
}
