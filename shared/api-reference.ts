export interface ApiDocument {
  info: { description: string };
  paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  components?: {
    schemas?: Schemas;
    securitySchemes?: Readonly<Record<string, { type: string; scheme?: string; in?: string; name?: string }>>;
  };
}

interface ApiOperation {
  operationId: string;
  summary: string;
  description?: string;
  security: readonly Readonly<Record<string, unknown>>[];
  parameters?: readonly ApiParameter[];
  requestBody?: { content: Content };
  responses: Readonly<Record<string, { description: string; content?: Content }>>;
}

interface ApiParameter {
  in: string;
  name: string;
  description?: string;
  required?: boolean;
  schema: { enum?: readonly string[] };
}

type Content = Readonly<Record<string, { schema?: JsonSchema; example?: unknown }>>;
type Schemas = Readonly<Record<string, JsonSchema>>;

interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  required?: string[];
  description?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}

/** Values of `templates/reference.hbs`. @param example the link that sends the GET request of a path, or "" */
export function apiReference(document: ApiDocument, baseUrl: string, example: (path: string) => string) {
  const schemas = document.components?.schemas ?? {};
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const bodies = new Set(operations.map(({ operation }) => documentIn(operation.requestBody?.content)));
  return {
    description: document.info.description,
    operations: operations.map(({ method, path, operation }) => ({
      ...described(operation, schemas),
      method,
      path,
      curl: curlLine(method, path, baseUrl, operation, document),
      example: method === "GET" && needsNoInput(operation) ? example(path) : "",
    })),
    documents: Object.entries(schemas)
      .filter(([name]) => !bodies.has(name))
      .map(([name, schema]) => ({
        name,
        description: schema.description ?? "",
        fields: fieldsBelow(schema, "", schemas),
      })),
  };
}

const needsNoInput = ({ parameters = [], responses }: ApiOperation): boolean =>
  "200" in responses && !parameters.some(({ required }) => required);

/** Fields of the body are listed after the parameters. */
function described(operation: ApiOperation, schemas: Schemas) {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const body = resolved(requestBody?.content["application/json"]?.schema ?? {}, schemas);
  return {
    anchor: operationId,
    summary,
    description: [description, body.description].filter(Boolean).join(" "),
    parameters: [
      ...parameters.map(({ in: place, name, description = "", required = false, schema }) => ({
        place,
        name,
        description,
        required,
        values: [...(schema.enum ?? [])],
      })),
      ...fieldsBelow(body, "", schemas).map(({ name, type, description, required }) => ({
        place: "body",
        name,
        description: description === "" ? type : `${type}: ${description}`,
        required,
        values: [],
      })),
    ],
    answers: Object.entries(responses).map(([status, { description, content }]) => {
      const document = documentIn(content);
      return { status, description, document: document in schemas ? document : "" };
    }),
  };
}

const documentIn = (content: Content = {}): string => nameIn(content["application/json"]?.schema);

const nameIn = ({ $ref = "" }: JsonSchema = {}): string => $ref.replace("#/components/schemas/", "");

/** Names in braces become capitals, to be replaced by the reader. */
function curlLine(
  method: string,
  path: string,
  baseUrl: string,
  operation: ApiOperation,
  { components }: ApiDocument,
): string {
  const { security, requestBody, responses } = operation;
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase());
  const example = requestBody?.content["application/json"]?.example;
  const [scheme] = Object.keys(security[0] ?? {});
  const { type, scheme: kind, name } = components?.securitySchemes?.[scheme ?? ""] ?? {};
  const isChange = method !== "GET";
  return [
    "curl -fsSL",
    ...("text/event-stream" in (responses["200"]?.content ?? {}) ? ["-N"] : []),
    ...(kind === "bearer" ? ["-H 'Authorization: Bearer KEY'"] : []),
    ...(kind === "basic" ? ["-u 'KEY_ID:KEY'"] : []),
    // A browser's cookie counts only for requests that state where they come from.
    ...(type === "apiKey" ? [`-b '${name}=SESSION'`] : []),
    ...(type === "apiKey" && isChange ? [`-H 'Origin: ${baseUrl}'`] : []),
    requestBody === undefined ? "-H 'Accept: application/json'" : "-H 'Content-Type: application/json'",
    ...(requestBody === undefined
      ? []
      : [example ? `-d '${JSON.stringify(example)}'` : "--data-binary @FILE"]),
    ...(isChange ? [`-X ${method}`] : []),
    `'${baseUrl}${address}'`,
  ].join(" ");
}

interface Field {
  /** Path such as `devices[].id`. */
  name: string;
  type: string;
  /** The document that this field is or contains, or "". */
  document: string;
  required: boolean;
  description: string;
}

/** All fields of an object, including nested ones; named documents are linked instead of repeated. */
function fieldsBelow(schema: JsonSchema, prefix: string, schemas: Schemas): Field[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  const fields = Object.entries(properties).flatMap(([name, property]) =>
    fieldsAt(property, prefix + name, required.includes(name), schemas),
  );
  const isMap = fields.length === 0 && typeof additionalProperties === "object";
  return isMap && Object.keys(additionalProperties).length > 0
    ? fieldsAt(additionalProperties, `${prefix}{id}`, true, schemas)
    : fields;
}

function fieldsAt(given: JsonSchema, name: string, required: boolean, schemas: Schemas): Field[] {
  const schema = resolved(given, schemas);
  const { items, additionalProperties } = schema;
  const mapped = typeof additionalProperties === "object" ? additionalProperties : {};
  const document = nameIn(given) || nameIn(items) || nameIn(mapped);
  const description = given.description ?? schema.description ?? "";
  const field = { name, type: typeOf(schema, schemas), document, required, description };
  if (document !== "") return [field];
  if (!items) return [field, ...fieldsBelow(schema, `${name}.`, schemas)];
  return [field, ...fieldsBelow(joined(resolved(items, schemas), schemas), `${name}[].`, schemas)];
}

function resolved(schema: JsonSchema, schemas: Schemas): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...rest } = schema;
  return { ...schemas[nameIn(schema)], ...rest };
}

/** Merges variants; a field is required if every variant requires it. */
function joined(schema: JsonSchema, schemas: Schemas): JsonSchema {
  if (!schema.anyOf) return schema;
  const variants = schema.anyOf.map((each) => resolved(each, schemas));
  const [{ required = [] } = {}] = variants;
  return {
    properties: Object.assign({}, ...variants.map(({ properties }) => properties)),
    required: required.filter((name) => variants.every((each) => each.required?.includes(name))),
  };
}

function typeOf(given: JsonSchema, schemas: Schemas): string {
  const schema = resolved(given, schemas);
  if (schema.anyOf) return [...new Set(schema.anyOf.map((each) => typeOf(each, schemas)))].join(" or ");
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array")
    return `array of ${typeOf(schema.items ?? {}, schemas)}${rangeOf(schema.minItems, schema.maxItems)}`;
  if (schema.type === "integer" || schema.type === "number")
    return schema.type + rangeOf(schema.minimum, schema.maximum);
  if (schema.format !== undefined) return schema.format === "date-time" ? "date and time" : schema.format;
  const name = [schema.type ?? "anything"].flat().join(" or ");
  return schema.maxLength === undefined
    ? name
    : `${name}${rangeOf(schema.minLength, schema.maxLength)} characters`;
}

/** Limits that JSON Schema states for every integer are not shown. */
function rangeOf(min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): string {
  const hasMin = min > Number.MIN_SAFE_INTEGER;
  if (max >= Number.MAX_SAFE_INTEGER) return hasMin ? `, ${min} or more` : "";
  return hasMin ? `, ${min} to ${max}` : `, up to ${max}`;
}
