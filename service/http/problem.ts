import { caching, type Headers } from "./answers.ts";
import { type ServerAnswer, wholeAnswer } from "./request.ts";

export interface FieldError {
  /** JSON Pointer (RFC 6901) into the body, or the name of a parameter. */
  pointer: string;
  code: string;
  detail: string;
}

/** A problem document (RFC 9457). */
export interface ProblemDetails {
  /** Stable name of the problem type. */
  slug: string;
  title: string;
  status: number;
  detail: string;
  errors?: readonly FieldError[];
  /** Additional members of this problem type. */
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
