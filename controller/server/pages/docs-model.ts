import { z } from "zod";
import type { Method } from "../../../service/http/routes.ts";
import type { Access } from "../access.ts";
import type { Contract } from "../contract.ts";
import { contracts } from "../contracts.ts";
import * as documents from "../documents.ts";
import { type ProblemKind, Refused } from "../problems.ts";
import { apiPath, type ControllerOperation, controllerRoutes } from "../routes.ts";
import { bodyExamples, queryExamples } from "./docs-examples.ts";
import { fieldsOf, meaningOfDocument, nameOfDocument } from "./docs-fields.ts";

/** Data of the API documentation, built from routes and contracts. */
export const documentation = (): object => {
  const shared = sharedDocuments();
  return {
    routes: controllerRoutes.map((route) => ({
      anchor: anchorOf(route.path),
      name: route.name,
      description: route.description,
      operations: Object.entries(route.operations).map(([method, operation]) =>
        operationView(method as Method, route.path, operation, shared),
      ),
    })),
    documents: [...shared].map(([name, schema]) => ({
      name,
      meaning: meaningOfDocument(schema),
      fields: fieldsOf(schema),
    })),
    problems: allProblems().map(problemView),
  };
};

const pathOf = (path: string): string => path.replace(/:(\w+)/g, "{$1}").replace(/\/$/, "");
const anchorOf = (path: string): string => `at${path.replace(/\W+/g, "-").replace(/-$/, "")}`;

/** Documents that are used several times are described once. */
function sharedDocuments(): Map<string, z.ZodType> {
  const named = new Map(
    Object.values(documents).flatMap((value) => {
      const name = value instanceof z.ZodType ? nameOfDocument(value) : undefined;
      return value instanceof z.ZodType && name !== undefined ? [[name, value] as const] : [];
    }),
  );
  const uses = Object.values(contracts).flatMap(({ success: { schema } }) =>
    schema ? [nameOfDocument(schema), ...fieldsOf(schema).flatMap(({ link }) => [link, link])] : [],
  );
  const isShared = (name: string) => uses.filter((use) => use === name).length > 1;
  return new Map([...named].filter(([name]) => isShared(name)).sort());
}

function operationView(
  method: Method,
  path: string,
  operation: ControllerOperation,
  shared: ReadonlyMap<string, z.ZodType>,
) {
  const contract = contracts[operation];
  const { summary, description = "", access, query, body, success, audit = [] } = contract;
  const answers = success.schema && nameOfDocument(success.schema);
  const isShared = answers !== undefined && shared.has(answers);
  return {
    anchor: operation,
    method,
    path: apiPath + pathOf(path),
    summary,
    description,
    who: whoMay(access),
    parameters: query ? fieldsOf(query) : [],
    body: body ? fieldsOf(body.schema) : [],
    bodyMeaning: body ? meaningOfDocument(body.schema) : "",
    isOptionalBody: body?.optional ?? false,
    status: success.also ? `${success.status} or ${success.also}` : String(success.status),
    answer: success.description,
    answerDocument: isShared ? answers : "",
    answerFields: success.schema && !isShared ? fieldsOf(success.schema) : [],
    problems: problemsOf(contract).map(problemView),
    audit,
    example: exampleOf(method, path, operation, contract),
  };
}

function whoMay(access: Access): { words: string; scope: string } {
  if (access === "anyone") return { words: "anyone", scope: "" };
  if (access === "holder") return { words: "API keys and users' tokens, about themselves", scope: "" };
  if (access === "user") return { words: "every user, signed in or with a token", scope: "" };
  if (access === "person") return { words: "every user who is signed in", scope: "" };
  const kinds = { key: "API keys", token: "users' tokens", session: "users who are signed in" };
  const list = (["key", "token", "session"] as const)
    .filter((kind) => access.by?.includes(kind) ?? true)
    .map((kind) => kinds[kind]);
  const last = list.pop() ?? "";
  return { words: list.length > 0 ? `${list.join(", ")} and ${last}` : last, scope: access.scope };
}

/** Problems other than those that every operation can have. */
function problemsOf({ body, query, problems = [] }: Contract): ProblemKind[] {
  const more: ProblemKind[] = [
    ...(body || query ? (["invalid"] as const) : []),
    ...(body ? (["too-large", "unsupported-media-type"] as const) : []),
  ];
  return [...new Set([...more, ...problems])];
}

function problemView(kind: ProblemKind): { slug: string; title: string; status: number } {
  const { slug, title, status } = new Refused(kind, "").details();
  return { slug, title, status };
}

const always: readonly ProblemKind[] = [
  "bad-request",
  "unauthorized",
  "forbidden",
  "wrong-alias",
  "https-required",
  "cross-origin",
  "method-not-allowed",
  "too-many-requests",
  "internal",
];

function allProblems(): ProblemKind[] {
  const kinds = new Set([...always, ...Object.values(contracts).flatMap(problemsOf)]);
  return [...kinds].sort((one, other) => problemView(one).status - problemView(other).status);
}

function exampleOf(
  method: Method,
  path: string,
  operation: ControllerOperation,
  { access, body, success }: Contract,
): string {
  const target = `$CONTROLLER${apiPath}${path.replace(/:id/g, "$ID").replace(/\/$/, "")}`;
  const credentials =
    access === "anyone"
      ? []
      : access === "person" || (typeof access === "object" && access.by?.join() === "session")
        ? ['--cookie "$COOKIE"', ...(method === "GET" ? [] : ['--header "Origin: $CONTROLLER"'])]
        : ['--user "$RELCAT_API_KEY_ID:$RELCAT_API_KEY"'];
  const sent = body ? [`--json '${JSON.stringify(bodyExamples[operation] ?? {})}'`] : [];
  const verb = method === "GET" || (method === "POST" && body) ? [] : [`--request ${method}`];
  const stream = success.type === "text/event-stream" ? ["--no-buffer"] : [];
  const parts = [...verb, ...stream, ...credentials, `"${target}${queryExamples[operation] ?? ""}"`, ...sent];
  return `curl ${parts.join(" \\\n  ")}`;
}
