import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Ask } from "./contract-ask.ts";

export interface Operation {
  operationId: string;
  method: string;
  /** Below /-net/api/v0; `{id}` matches a segment. */
  path: string;
  /** The same, as the document has it. */
  address: string;
  parameters: { in: string; name: string; required?: boolean; schema: Schema }[];
  body: Schema | undefined;
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}
// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema has members of all kinds
export type Schema = Record<string, any>;

export interface ApiDocument {
  operations: Operation[];
  /** Target of a `$ref`. */
  resolve(schema: Schema): Schema;
  /** @returns the difference between an answer and its documentation; undefined: none */
  wrongWith(operation: Operation, answer: { status: number; type: string; text: string }): string | undefined;
}

const methods = ["get", "post", "put", "patch", "delete", "head", "options"];

export async function readDocument(ask: Ask): Promise<ApiDocument> {
  const { status, text } = await ask("GET", "/openapi.json");
  if (status !== 200) throw new Error(`openapi.json is answered with ${status}`);
  const document = JSON.parse(text);
  const operations = Object.entries<Schema>(document.paths).flatMap(([path, entry]) =>
    Object.entries(entry)
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => operationOf(path, method, operation)),
  );
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ ...document, $id: "api" }, "api");
  const validators = new Map<string, ValidateFunction>();
  return {
    operations,
    resolve: (schema) => resolve(document, schema),
    wrongWith(operation, { status, type, text }) {
      const response = operation.responses[status];
      if (!response) return `the status ${status} is not documented`;
      if (!response.content) return text === "" ? undefined : "a body is not documented";
      const kind = type.split(";")[0] ?? "";
      if (!(kind in response.content)) return `the type ${type} is not documented`;
      if (!kind.endsWith("json")) return undefined;
      const place = [
        operation.address,
        operation.method.toLowerCase(),
        "responses",
        String(status),
        "content",
        kind,
        "schema",
      ];
      const validate = validatorAt(ajv, validators, place);
      return validate(JSON.parse(text)) ? undefined : ajv.errorsText(validate.errors);
    },
  };
}

function operationOf(address: string, method: string, operation: Schema): Operation {
  return {
    operationId: operation.operationId,
    method: method.toUpperCase(),
    path: address.replace(/^\/-net\/api\/v0/, ""),
    address,
    parameters: operation.parameters ?? [],
    body: operation.requestBody?.content["application/json"].schema,
    responses: operation.responses,
  };
}

function resolve(document: Schema, schema: Schema): Schema {
  if (typeof schema.$ref !== "string") return schema;
  const parts = schema.$ref.split("/").slice(1);
  return resolve(
    document,
    parts.reduce((found: Schema, part: string) => found[part], document),
  );
}

function validatorAt(ajv: Ajv2020, known: Map<string, ValidateFunction>, place: readonly string[]) {
  const pointer = ["paths", ...place].map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1"));
  const reference = `api#/${pointer.map(encodeURIComponent).join("/")}`;
  const validate = known.get(reference) ?? ajv.compile({ $ref: reference });
  known.set(reference, validate);
  return validate;
}
