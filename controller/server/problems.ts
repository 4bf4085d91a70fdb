import type { FieldError, ProblemDetails } from "../../service/http/problem.ts";

/** All problem types of the API. Slugs are stable, because programs compare them. */
const kinds = {
  "bad-request": [400, "The request cannot be read"],
  invalid: [400, "The request has invalid values"],
  unauthorized: [401, "Credentials are missing or not valid"],
  forbidden: [403, "The credentials do not allow this"],
  "wrong-alias": [403, "A user's token is for /latest/ only"],
  "https-required": [403, "HTTPS is required"],
  "cross-origin": [403, "The request comes from another site"],
  "not-found": [404, "Not found"],
  "method-not-allowed": [405, "Method not allowed"],
  conflict: [409, "The request conflicts with the current state"],
  "limit-reached": [409, "A limit is reached"],
  "too-large": [413, "The body is too large"],
  "unsupported-media-type": [415, "The body is not JSON"],
  "too-many-requests": [429, "Too many requests"],
  internal: [500, "The server failed"],
  "enrolment-full": [503, "No more devices can enrol now"],
  busy: [503, "The server is busy"],
} as const satisfies Record<string, readonly [number, string]>;

export type ProblemKind = keyof typeof kinds;

export const statusOf = (kind: ProblemKind): number => kinds[kind][0];

/** Ends a request; its transaction is rolled back. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly kind: ProblemKind;
  readonly errors: readonly FieldError[] | undefined;
  readonly more: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    kind: ProblemKind,
    detail: string,
    { errors, more = {}, headers = {} }: Partial<Pick<Refused, "errors" | "more" | "headers">> = {},
  ) {
    super(detail);
    this.kind = kind;
    this.errors = errors;
    this.more = more;
    this.headers = headers;
  }

  details(): ProblemDetails {
    const [status, title] = kinds[this.kind];
    const { message: detail, errors, more } = this;
    return { slug: this.kind, title, status, detail, more, ...(errors && { errors }) };
  }
}

export const tooMany = (seconds: number): Refused =>
  new Refused("too-many-requests", `Ask again in ${seconds} s.`, {
    headers: { "Retry-After": String(seconds) },
  });

/** Problem with one value. @param pointer JSON Pointer into the body, or the name of a parameter */
export const invalid = (pointer: string, code: string, detail: string): Refused =>
  new Refused("invalid", detail, { errors: [{ pointer, code, detail }] });
