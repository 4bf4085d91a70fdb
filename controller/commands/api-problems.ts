import { count } from "../../cli/terminal/words.ts";
import { type Code, type Problem, RelcatError } from "../../shared/errors.ts";

export interface ApiAnswer {
  status: number;
  /** Parsed JSON; undefined: no body. */
  body: unknown;
}

/** Kind of credentials, which decides on the hint. */
export type CredentialsKind = "key" | "session" | "host" | "none";

interface Details {
  type?: unknown;
  title?: unknown;
  detail?: unknown;
  errors?: { pointer?: unknown; detail?: unknown }[];
  results?: { id?: unknown; detail?: unknown; error?: unknown }[];
}

/** A longer list of errors does not help. */
const maxShown = 20;

/** Turns an error response into problems: the refusal, then each faulty part of the request. */
export function refusalOf({ status, body }: ApiAnswer, credentials: CredentialsKind): RelcatError {
  const details = (typeof body === "object" && body !== null ? body : {}) as Details;
  const code = codeOf(status);
  const detail = typeof details.detail === "string" ? details.detail : `The controller answered ${status}.`;
  const parts = partsOf(details);
  const left = parts.length - maxShown;
  const more = left > 0 ? [`and ${count(left, "more", "more")}`] : [];
  const problem = (message: string, hint?: string): Problem => ({
    code,
    severity: "error",
    message,
    ...(hint && { hint }),
  });
  return new RelcatError([
    problem(asMessage(detail), hintOf(status, details, credentials)),
    ...[...parts.slice(0, maxShown), ...more].map((part) => problem(part)),
  ]);
}

function partsOf({ errors = [], results = [] }: Details): string[] {
  const failed = results.filter((result) => result.error !== undefined);
  return [
    ...errors.map(({ pointer, detail }) => `${pointer || "the body"}: ${asMessage(String(detail))}`),
    ...failed.map(({ id, detail }) => `${id}: ${asMessage(String(detail))}`),
  ];
}

function codeOf(status: number): Code {
  if (status === 401 || status === 403) return "credentials-refused";
  if (status === 409) return "request-conflict";
  return status === 429 || status >= 500 ? "network" : "request-refused";
}

function hintOf(status: number, { type }: Details, credentials: CredentialsKind): string | undefined {
  if (status === 401) return unauthorized[credentials];
  if (status === 403 && String(type).endsWith(":forbidden")) return forbidden[credentials];
  if (status === 429) return "Run it again later; relcat controller serve --limit-key sets the limit.";
  if (status >= 500) return "Run it again later; the server's log has the details.";
  return undefined;
}

const unauthorized: Readonly<Record<CredentialsKind, string>> = {
  key: "The API key is wrong, expired, disabled or revoked: relcat controller audit show --code auth.failed says which.",
  session: "The session has expired: sign in again with relcat login.",
  host: "",
  none: "Check the name and the password.",
};
const forbidden: Readonly<Record<CredentialsKind, string>> = {
  key: "The key's scopes do not allow it: relcat controller keys list shows them.",
  session: "Your role does not allow it: relcat controller users list shows it.",
  host: "",
  none: "",
};

/** Adapts a sentence of the API to the style of messages. */
const asMessage = (text: string) =>
  text.replace(/\.$/, "").replace(/^[A-Z](?=[a-z ])/, (first) => first.toLowerCase());
