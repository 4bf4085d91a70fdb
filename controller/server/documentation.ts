import { z } from "zod";
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from "zod-openapi";
import { caching } from "../../service/http/answers.ts";
import { type ApiDescription, openApiOf } from "../../service/http/openapi.ts";
import { type ApiDocument, apiReference } from "../../shared/api-reference.ts";
import { plainJson } from "../../shared/portable-patterns.ts";
import { type Access, kindsOf } from "./access.ts";
import { type Answer, type ProblemKind, statusOf } from "./call.ts";
import type { Contract } from "./contract.ts";
import { contracts } from "./contracts.ts";
import { text } from "./fields.ts";
import { assetPaths, pagePolicy, render } from "./pages/templates.ts";
import { addresses, apiPath, type ControllerOperation, controllerRoutes } from "./routes.ts";

/** Cached, because they depend only on the program. */
let description: string | undefined;
let page: string | undefined;

export function readOpenApi(): Answer {
  description ??= controllerOpenApiText();
  return { status: 200, text: description };
}

export function readDocs(): Answer {
  page ??= render("reference", {
    layout: {
      title: "API reference",
      product: "Device management",
      ...assetPaths(),
      nav: [],
      who: "",
      said: "",
    },
    browse: "",
    openapi: `${apiPath}/openapi.json`,
    ...apiReference(controllerOpenApi() as ApiDocument, "https://CONTROLLER", () => ""),
  });
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": pagePolicy,
    "Cache-Control": caching.none,
  };
  return { status: 200, headers, text: page };
}

type Documented = ApiDescription<ControllerOperation>["operations"][ControllerOperation];

function documented(operation: ControllerOperation, contract: Contract): Documented {
  const { summary, description = "", access, query, body, success, audit = [] } = contract;
  const recorded = audit.length > 0 ? `Recorded in the audit log as ${audit.join(", ")}.` : "";
  const hasId = addresses.get(operation)?.path.includes(":id") ?? false;
  const params = {
    ...(hasId && { path: z.object({ id: z.string().describe("Its id.") }) }),
    ...(query && { query }),
  };
  return {
    summary,
    description: [description, whoMay(access), recorded].filter(Boolean).join(" "),
    security: securityOf(access),
    ...((hasId || query) && { requestParams: params }),
    ...(body && {
      requestBody: {
        required: body.optional !== true,
        content: { "application/json": { schema: body.schema, example: body.example } },
      },
    }),
    responses: { ...successesOf(success), ...problemsOf(operation, contract) },
  };
}

const schemes = { key: "basic", token: "basic", session: "session" } as const;

const securityOf = (access: Access): Record<string, string[]>[] =>
  [...new Set(kindsOf(access).map((kind) => schemes[kind]))].sort().map((scheme) => ({ [scheme]: [] }));

function whoMay(access: Access): string {
  if (access === "anyone") return "Needs no credentials.";
  if (access === "holder") return "For API keys and users' tokens, about themselves.";
  if (access === "user") return "For every user, signed in or with a token.";
  if (access === "person") return "For every user who is signed in.";
  const kinds = { key: "API keys", token: "users' tokens", session: "users who are signed in" };
  const allowed = Object.entries(kinds).filter(([kind]) => kindsOf(access).includes(kind as "key"));
  const names = new Intl.ListFormat("en").format(allowed.map(([, name]) => name));
  return `For ${names}, with the scope ${access.scope}.`;
}

function successesOf({
  status = 200,
  also,
  description,
  schema,
  type = "application/json",
}: Contract["success"]): ZodOpenApiResponsesObject {
  const content = { [type]: { schema: schema ?? z.string() } };
  const response: ZodOpenApiResponseObject = status === 204 ? { description } : { description, content };
  return { [status]: response, ...(also && { [also]: response }) };
}

const problemSchema = z
  .looseObject({
    type: text,
    title: text,
    status: z.int(),
    detail: text,
    instance: text,
    errors: z.array(z.strictObject({ pointer: text, code: text, detail: text })).optional(),
  })
  .meta({ id: "Problem", description: "RFC 9457." });
const bulkProblemSchema = problemSchema
  .extend({ results: z.array(z.looseObject({ id: text })).optional() })
  .meta({ id: "BulkProblem", description: "Nothing was applied; results give the reason for each item." });

function problemsOf(
  operation: ControllerOperation,
  { access, query, body, problems = [] }: Contract,
): ZodOpenApiResponsesObject {
  const kinds: ProblemKind[] = [
    "bad-request",
    "https-required",
    "too-many-requests",
    "internal",
    ...problems,
  ];
  if (access !== "anyone") kinds.push("unauthorized", "forbidden", "wrong-alias");
  if (body || query) kinds.push("invalid");
  if (body) kinds.push("too-large", "unsupported-media-type");
  const schema = operation === "setDeviceStates" ? bulkProblemSchema : problemSchema;
  const statuses = [...new Set(kinds.map(statusOf))].sort();
  return Object.fromEntries(
    statuses.map((status) => {
      const slugs = [...new Set(kinds.filter((kind) => statusOf(kind) === status))].join(", ");
      const description = `${meaning[status]} Problems: ${slugs}.`;
      return [status, { description, content: { "application/problem+json": { schema } } }];
    }),
  );
}

const meaning: Record<number, string> = {
  400: "The request cannot be read, or has invalid values.",
  401: "Credentials are missing or not valid.",
  403: "The credentials do not allow it, or HTTPS is required.",
  404: "Not found.",
  409: "The current state conflicts with the request.",
  413: "The body is too large.",
  415: "The body is not JSON.",
  429: "Too many requests; Retry-After says when to retry.",
  500: "The server failed.",
  503: "Unavailable; Retry-After says when to retry.",
};

/** Full paths, because clients differ in how they join a path to a server URL with a path of its own. */
const routesAt = (prefix: string) =>
  controllerRoutes.map((route) => ({ ...route, path: `${prefix}${route.path}` }));

const controllerOpenApi = (): object =>
  openApiOf(routesAt(apiPath), {
    title: "Device management",
    version: "v0",
    description:
      "Devices of a fleet: list them, accept or reject them. Programs send the id of an API key as user and its secret as password, with HTTP Basic; Owners and Full Administrators create keys on the page /keys. All paths also exist below /latest/, where users' tokens work in addition to API keys. Every path works with and without its final slash. Bodies are JSON; unknown members are rejected, or listed in X-Ignored-Fields. Errors are application/problem+json (RFC 9457); the slug that ends their type, urn:relcat:problem:SLUG, is what programs compare, and errors name each field.",
    securitySchemes: {
      basic: {
        type: "http",
        scheme: "basic",
        description: "Id and secret of an API key, or of a user's token.",
      },
      session: { type: "apiKey", in: "cookie", name: "relcat-session" },
    },
    operations: Object.fromEntries(
      Object.entries(contracts).map(([operation, contract]) => [
        operation,
        documented(operation as ControllerOperation, contract),
      ]),
    ) as ApiDescription<ControllerOperation>["operations"],
  });

/** Serialized, with a final newline. */
export const controllerOpenApiText = (): string => plainJson(controllerOpenApi());
