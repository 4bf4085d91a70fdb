import fc from "fast-check";
import type { ApiDocument, Operation, Schema } from "../controller/contract-document.ts";

/** A generated request, valid or invalid according to its operation's description. */
export interface MadeUp {
  operation: Operation;
  prefix: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
  /** Index of the credentials. */
  credentials: number;
  remote: string;
}

/** Known hostile inputs. */
const hostileTexts = [
  "",
  "0",
  "null",
  "' or 1=1 --",
  "'; drop table devices; --",
  "\0",
  "a\0b",
  "\ud800",
  "\u2028",
  "%00",
  "%2500",
  "%2e%2e",
  "../../etc/passwd",
  "__proto__",
  "constructor",
  "{{7*7}}",
  "<script>alert(1)</script>",
  "\r\nX-Evil: 1",
  "9".repeat(400),
  "-1",
  "1e999",
  "99999999999999999999",
  "a".repeat(5000),
  "😀".repeat(70),
  "\\",
  "%",
  "_",
];
const hostile = fc.oneof(fc.constantFrom(...hostileTexts), fc.string({ unit: "binary", maxLength: 40 }));

/** Usually the intended value, sometimes anything. */
const mostly = (meant: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: meant }, { weight: 1, arbitrary: fc.oneof(hostile, fc.jsonValue()) });

/** Values that match or violate a schema. @param ids existing ids */
function valueFor(document: ApiDocument, given: Schema, ids: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const schema = document.resolve(given);
  const alternatives: Schema[] | undefined = schema.anyOf ?? schema.oneOf;
  if (alternatives) return fc.oneof(...alternatives.map((each) => valueFor(document, each, ids)));
  if ("const" in schema) return mostly(fc.constant(schema.const));
  if (schema.enum) return mostly(fc.constantFrom(...schema.enum));
  if (schema.type === "object") return mostly(objectOf(document, schema, ids));
  if (schema.type === "array") {
    const items = valueFor(document, schema.items ?? {}, ids);
    return mostly(fc.array(items, { minLength: schema.minItems ?? 0, maxLength: 3 }));
  }
  if (schema.type === "string") return mostly(textOf(schema));
  if (schema.type === "integer") return mostly(fc.integer({ min: schema.minimum ?? -5, max: 400 }));
  if (schema.type === "number")
    return mostly(fc.double({ min: schema.minimum ?? -5, max: 800, noNaN: true }));
  if (schema.type === "boolean") return mostly(fc.boolean());
  return schema.type === "null" ? fc.constant(null) : fc.jsonValue();
}

function objectOf(document: ApiDocument, schema: Schema, ids: fc.Arbitrary<string>): fc.Arbitrary<object> {
  const required: string[] = schema.required ?? [];
  const members = Object.entries<Schema>(schema.properties ?? {}).map(([name, member]) => {
    const value = /(^|_)id$/.test(name) ? mostly(ids) : valueFor(document, member, ids);
    return [name, value] as const;
  });
  const known = fc.record(Object.fromEntries(members), { requiredKeys: required });
  const odd = fc.dictionary(hostile, fc.jsonValue(), { maxKeys: 2 });
  return fc.oneof(
    { weight: 15, arbitrary: known },
    { weight: 1, arbitrary: fc.tuple(known, odd).map(([value, more]) => ({ ...value, ...more })) },
  );
}

function textOf({ pattern, format, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> {
  if (format === "email") return fc.emailAddress();
  if (pattern) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 60)) });
}

/** Requests generated from the API's description. @param credentials number of kinds */
export function requestsTo(
  document: ApiDocument,
  { ids: known, credentials }: { ids: readonly string[]; credentials: number },
): fc.Arbitrary<MadeUp> {
  const ids = fc.oneof(fc.constantFrom(...known), fc.uuid({ version: 4 }), hostile);
  const each = document.operations.map((operation) =>
    fc.record({
      operation: fc.constant(operation),
      prefix: fc.constantFrom("/-net/api/v0", "/-net/api/latest", "/latest"),
      path: fc
        .tuple(ids, queryOf(document, operation, ids), fc.boolean())
        .map(([id, query, hasSlash]) => pathOf(operation, id, query, hasSlash)),
      headers: headersOf(operation),
      body: bodyOf(document, operation, ids),
      credentials: fc.nat({ max: credentials - 1 }),
      remote: fc.nat({ max: 5000 }).map((number) => `10.1.${number >> 8}.${number & 255}`),
    }),
  );
  return fc.oneof(...each);
}

function bodyOf(
  document: ApiDocument,
  { body }: Operation,
  ids: fc.Arbitrary<string>,
): fc.Arbitrary<string | undefined> {
  const odd = fc.oneof(hostile, fc.json(), fc.constant(undefined));
  if (!body) return odd;
  const meant = valueFor(document, body, ids).map((value) => JSON.stringify(value));
  return fc.oneof({ weight: 9, arbitrary: meant }, { weight: 1, arbitrary: odd });
}

function pathOf({ path }: Operation, id: string, query: string, hasSlash: boolean): string {
  // Malformed text cannot be sent; dots alone, and `me`, make another address.
  const sent = /^(?:\.{0,2}|me)$/.test(id) ? "x" : id.toWellFormed();
  const filled = path.replace("{id}", () => encodeURIComponent(sent));
  return (hasSlash ? filled : filled.replace(/\/$/, "")) + query;
}

/** `String` would call a generated `toString`. */
const asText = (value: unknown): string =>
  typeof value === "object" ? JSON.stringify(value) : String(value);

function queryOf(
  document: ApiDocument,
  operation: Operation,
  ids: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  const known = operation.parameters.filter((parameter) => parameter.in === "query");
  const pairs = known.map(({ name, schema }) =>
    fc.tuple(fc.constant(name), valueFor(document, schema, ids).map(asText)),
  );
  const odd = fc.tuple(hostile, hostile);
  const one = pairs.length > 0 ? fc.oneof({ weight: 8, arbitrary: fc.oneof(...pairs) }, odd) : odd;
  const some = fc.array(one, { maxLength: 3 }).map((given) => `?${new URLSearchParams(given)}`);
  return fc.oneof(
    { weight: 10, arbitrary: fc.constant("") },
    { weight: known.length > 0 ? 15 : 1, arbitrary: some },
  );
}

/** Header values are bytes, without line breaks: others cannot be sent. */
const headerText = hostile.map((text) => text.replace(/[^\x20-\x7e\xa0-\xff]/g, "").trim());

function headersOf({ body }: Operation): fc.Arbitrary<Record<string, string>> {
  const type = body
    ? fc.oneof({ weight: 9, arbitrary: fc.constant("application/json") }, headerText)
    : headerText;
  const rarely = (values: fc.Arbitrary<string>) => fc.option(values, { freq: 8, nil: undefined });
  const some = fc.record({
    "content-type": type,
    prefer: rarely(fc.oneof(fc.constant("handling=lenient"), headerText)),
    "last-event-id": rarely(fc.oneof(fc.nat().map(String), headerText)),
    "x-request-id": rarely(headerText),
    accept: rarely(headerText),
    "content-encoding": rarely(fc.constantFrom("gzip", "identity", "br")),
  });
  return some.map(
    (headers) =>
      Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<
        string,
        string
      >,
  );
}
