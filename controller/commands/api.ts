import { setTimeout as wait } from "node:timers/promises";
import { type Host, say } from "../../cli/terminal/host.ts";
import { UsageError } from "../../cli/terminal/usage.ts";
import { count } from "../../cli/terminal/words.ts";
import { type Code, failure, type Problem, RelcatError } from "../../shared/errors.ts";
import { keptSessions, type Session } from "./login-state.ts";

/** A controller's API, over HTTP or in this process. */
export interface Api {
  /** @param path below /-net/api/v0 @throws RelcatError for an error response */
  ask<T>(method: "GET" | "POST" | "DELETE", path: string, body?: object): Promise<T>;
}

export interface Place {
  url?: string;
}

/** Time-out in milliseconds; lists of large fleets take a while. */
const timeoutMilliseconds = 120_000;
/** Longest Retry-After in seconds that is obeyed; beyond it, the user decides. */
const maxWaitSeconds = 90;
const maxWaits = 2;

/** Uses the available credentials: an API key from the environment, or the session of `relcat login`. */
export function connect(place: Place, host: Host, prefer: "key" | "session" = "key"): Connection {
  const url = urlOf(place, host);
  const key = keyOf(host);
  const session = keptSessions(host).find((each) => each.url === url);
  const useKey = key !== undefined && (prefer === "key" || session === undefined);
  if (!useKey && session === undefined) {
    throw new UsageError(
      `there are no credentials for ${url}`,
      `Sign in: relcat login --url ${url}; or export RELCAT_API_KEY_ID and RELCAT_API_KEY.`,
    );
  }
  if (useKey) return new Connection(url, "key", { authorization: `Basic ${key}` }, host);
  return new Connection(url, "session", { cookie: session?.cookie ?? "" }, host);
}

export const connectAsNobody = (place: Place, host: Host): Connection =>
  new Connection(urlOf(place, host), "none", {}, host);

/** --url, $RELCAT_CONTROLLER_URL, or the only controller with a session. */
function urlOf({ url }: Place, host: Host): string {
  const given = url ?? host.environment.RELCAT_CONTROLLER_URL;
  if (given) return readUrl(given, url ? "--url" : "RELCAT_CONTROLLER_URL");
  const sessions = keptSessions(host);
  const [only] = sessions;
  if (only && sessions.length === 1) return only.url;
  const known = sessions.map((session: Session) => session.url).join(", ");
  throw new UsageError(
    sessions.length === 0 ? "no controller is named" : `you are signed in to several controllers: ${known}`,
    "Give --url https://…, or export RELCAT_CONTROLLER_URL.",
  );
}

/** Credentials are sent only over HTTPS or to this machine. */
function readUrl(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) {
    throw new UsageError(
      `${name} is ${JSON.stringify(text)}, expected an http or https URL`,
      "For example: https://controller.example.com",
    );
  }
  if (url.protocol === "http:" && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname)) {
    throw new UsageError(
      `${name} is ${text}: over plain HTTP others could read the credentials`,
      "Give an https:// URL.",
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** @returns the key in the form of HTTP Basic */
function keyOf({ environment }: Host): string | undefined {
  const { RELCAT_API_KEY_ID: id, RELCAT_API_KEY: key } = environment;
  if (!id && !key) return undefined;
  if (id && key) return Buffer.from(`${id}:${key}`).toString("base64");
  const missing = id ? "RELCAT_API_KEY" : "RELCAT_API_KEY_ID";
  throw new UsageError(`${missing} is not set`, "An API key is an id and a secret: export both.");
}

export class Connection implements Api {
  readonly url: string;
  readonly #credentials: CredentialsKind;
  readonly #headers: Record<string, string>;
  readonly #host: Host;
  #last: Headers | undefined;
  #hasWarned = false;

  constructor(url: string, credentials: CredentialsKind, headers: Record<string, string>, host: Host) {
    this.url = url;
    this.#credentials = credentials;
    this.#headers = headers;
    this.#host = host;
  }

  /** Headers of the last response. */
  headers = () => this.#last;

  async ask<T>(method: "GET" | "POST" | "DELETE", path: string, body?: object): Promise<T> {
    const response = await this.#send(method, path, body, AbortSignal.timeout(timeoutMilliseconds));
    const answer = await this.#read(response);
    if (!response.ok) throw refusalOf(answer, this.#credentials);
    return answer.body as T;
  }

  /** Streams a successful response. */
  async open(path: string): Promise<Response> {
    const response = await this.#send("GET", path);
    if (!response.ok) throw refusalOf(await this.#read(response), this.#credentials);
    return response;
  }

  async #send(method: string, path: string, body?: object, signal?: AbortSignal): Promise<Response> {
    const request = {
      method,
      redirect: "manual",
      headers: { ...this.#headers, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    } as const;
    for (let waits = 0; ; waits++) {
      const response = await fetch(`${this.url}/-net/api/v0${path}`, request).catch((error: unknown) => {
        throw unreachable(this.url, error);
      });
      this.#last = response.headers;
      this.#warn(response.headers);
      const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
      const mayWait = response.status === 429 && seconds <= maxWaitSeconds && waits < maxWaits;
      if (!mayWait) return this.#refuseRedirect(response);
      await response.body?.cancel();
      say(this.#host, `The controller limits requests: continuing in ${count(seconds, "second")}…`);
      await wait(seconds * 1000);
    }
  }

  /** A redirect must not send credentials to another address. */
  #refuseRedirect(response: Response): Response {
    if (response.status < 300 || response.status > 399) return response;
    const to = response.headers.get("location") ?? "another address";
    throw failure(
      "network",
      `${this.url} redirects to ${to}`,
      "Give the controller's own address with --url.",
    );
  }

  async #read(response: Response): Promise<ApiAnswer> {
    const text = await response.text().catch((error: unknown) => {
      throw unreachable(this.url, error);
    });
    const isJson = /^application\/(problem\+)?json/.test(response.headers.get("content-type") ?? "");
    if (response.ok && text === "") return { status: response.status, body: undefined };
    const body = isJson ? parsed(text) : undefined;
    if (body !== undefined) return { status: response.status, body };
    throw failure(
      "network",
      `${this.url} does not answer like a controller (${response.status})`,
      "Check the address; a proxy in front of it must forward /-net/api/v0/.",
    );
  }

  #warn(headers: Headers): void {
    const ends = headers.get("x-key-expires");
    if (ends === null || this.#hasWarned) return;
    this.#hasWarned = true;
    say(
      this.#host,
      `${this.#host.messages.style("yellow", "warning:")} the API key expires on ${ends.slice(0, 10)}; relcat controller keys rotate me creates its next secret.`,
    );
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unreachable(url: string, error: unknown): RelcatError {
  const { cause = error } = error as { cause?: unknown };
  const { code, message } = cause as NodeJS.ErrnoException;
  const isLate = (error as Error).name === "TimeoutError";
  return failure(
    "network",
    `cannot reach ${url} (${isLate ? "no answer in time" : (code ?? message)})`,
    "Is the controller running there? relcat controller serve starts one.",
    undefined,
    error,
  );
}

/** A controller: its local database, or its address. */
export interface ControllerPlace extends Place {
  database?: string;
}

/** Calls `work` with the controller's API, over HTTP or directly on the database, with the same results. */
export async function withApi<T>(
  place: ControllerPlace,
  host: Host,
  work: (api: Api) => Promise<T>,
): Promise<T> {
  const { database, url } = place;
  if (database === undefined) return work(connect(place, host, "session"));
  if (url !== undefined) {
    throw new UsageError("--database and --url name two controllers", "Give one of them.");
  }
  const { withController } = await import("./controller-open.ts");
  const { askOnHost } = await import("../server/node-host.ts");
  return withController(database, host, async (controller) => {
    const askHere = askOnHost(controller);
    return work({
      async ask<R>(method: string, path: string, body?: object): Promise<R> {
        const answer = await askHere(method, path, body);
        if (answer.status > 299) throw refusalOf(answer, "host");
        return answer.body as R;
      },
    });
  });
}

interface ApiAnswer {
  status: number;
  /** Parsed JSON; undefined: no body. */
  body: unknown;
}

/** Kind of credentials, which decides on the hint. */
type CredentialsKind = "key" | "session" | "host" | "none";

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
function refusalOf({ status, body }: ApiAnswer, credentials: CredentialsKind): RelcatError {
  const details = (typeof body === "object" && body !== null ? body : {}) as Details;
  const code = codeOf(status);
  // The detail of a failure only names the log, as the hint does.
  const given = status === 500 ? details.title : details.detail;
  const detail = typeof given === "string" ? given : `The controller answered ${status}.`;
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

function partsOf({ detail: whole, errors = [], results = [] }: Details): string[] {
  const failed = results.filter((result) => result.error !== undefined);
  const others = errors.filter(({ detail }) => detail !== whole);
  return [
    ...others.map(({ pointer, detail }) => `${pointer || "the body"}: ${asMessage(String(detail))}`),
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

const unauthorized: Partial<Record<CredentialsKind, string>> = {
  key: "The API key is wrong, expired, disabled or revoked: relcat controller audit show --code auth.failed says which.",
  session: "The session has expired: sign in again with relcat login.",
  none: "Check the name and the password.",
};
const forbidden: Partial<Record<CredentialsKind, string>> = {
  key: "relcat login signs you in; relcat controller keys list shows the scopes of each key.",
  session: "relcat controller users list shows the role of each user.",
};

/** Adapts a sentence of the API to the style of messages. */
const asMessage = (text: string) =>
  text.replace(/\.$/, "").replace(/^[A-Z](?=[a-z ])/, (first) => first.toLowerCase());
