import { caching, type Headers } from "./answers.ts";
import { type ServerAnswer, wholeAnswer } from "./request.ts";

/** What is wrong at one place of a request. */
export interface FieldError {
  /** JSON Pointer (RFC 6901) into the body, or the name of a parameter. */
  pointer: string;
  code: string;
  detail: string;
}

/** An answer that says what went wrong (RFC 9457). */
export interface ProblemDetails {
  /** Stable name of this kind of problem. */
  slug: string;
  title: string;
  status: number;
  detail: string;
  errors?: readonly FieldError[];
  /** Members of this kind of problem alone. */
  more?: Readonly<Record<string, unknown>>;
}

/** @param instance path of the request */
export function problem(
  { slug, title, status, detail, errors, more }: ProblemDetails,
  instance: string,
  headers: Headers = {},
): ServerAnswer {
  const body = {
    type: `urn:relcat:problem:${slug}`,
    title,
    status,
    detail,
    instance,
    ...(errors && { errors }),
    ...more,
  };
  const kind = { "Content-Type": "application/problem+json", "Cache-Control": caching.none };
  return wholeAnswer(status, { ...kind, ...headers }, JSON.stringify(body));
}
