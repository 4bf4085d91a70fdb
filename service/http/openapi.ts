import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { withPortablePatterns } from "../../shared/portable-patterns.ts";
import type { Method, Route } from "./router.ts";

export interface ApiDescription<Operation extends string> {
  title: string;
  version: string;
  description: string;
  operations: Record<Operation, Omit<ZodOpenApiOperationObject, "operationId">>;
  securitySchemes?: NonNullable<
    NonNullable<Parameters<typeof createDocument>[0]["components"]>["securitySchemes"]
  >;
}

/** Builds an OpenAPI 3.1 description from routes. Its server is the address from which it was downloaded. */
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
