import { failure, type RelcatError } from "../../../shared/errors.ts";

const maxRedirects = 5;

/** Aborts a request after a time without data; a slow server that keeps sending is fine. */
export interface IdleTimeout {
  signal: AbortSignal;
  reset(): void;
  /** Closes the connection, even if the body was not read to its end. */
  end(): void;
}

export function startIdleTimeout(maxMilliseconds = 30_000): IdleTimeout {
  const controller = new AbortController();
  const abort = () => controller.abort(new Error(`no answer within ${maxMilliseconds / 1000} s`));
  const timer = setTimeout(abort, maxMilliseconds);
  return {
    signal: controller.signal,
    reset: () => timer.refresh(),
    end() {
      clearTimeout(timer);
      controller.abort(new Error("reading was stopped"));
    },
  };
}

/** Closes the connection at the end. @param maxMilliseconds without data @throws RelcatError network; errors of `ask` */
export async function requesting<T>(
  url: string,
  ask: (idleTimeout: IdleTimeout) => Promise<T>,
  maxMilliseconds?: number,
): Promise<T> {
  const idleTimeout = startIdleTimeout(maxMilliseconds);
  try {
    return await ask(idleTimeout);
  } catch (error) {
    throw networkProblem(url, error, idleTimeout);
  } finally {
    idleTimeout.end();
  }
}

/**
 * Requests an address and follows redirects, which storage hosts use.
 * @param refuse creates the error for an unsafe redirect
 * @param requireSafe throws for a target that must not be followed; default: never from https to http
 */
export async function follow(
  start: string,
  asking: { method?: "HEAD"; headers: Readonly<Record<string, string>> },
  idleTimeout: Pick<IdleTimeout, "signal" | "reset">,
  refuse: (url: string, what: string) => RelcatError = unreachable,
  requireSafe?: (target: string) => void,
): Promise<Response> {
  let url = start;
  for (let step = 0; step <= maxRedirects; step++) {
    const response = await fetch(url, { ...asking, redirect: "manual", signal: idleTimeout.signal });
    idleTimeout.reset();
    const next = redirection(response, url);
    if (!next) return response;
    await response.body?.cancel();
    if (requireSafe) requireSafe(next.href);
    else if (!isSafeStep(new URL(url), next))
      throw refuse(start, `leads to ${next.protocol}//${next.host}, which is not followed`);
    url = next.href;
  }
  throw refuse(start, `redirects more than ${maxRedirects} times`);
}

/** Target of a redirect; undefined for other answers. */
export function redirection({ status, headers }: Response, url: string): URL | undefined {
  const location = status >= 300 && status < 400 ? headers.get("location") : null;
  return location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined;
}

/** Never from https to http, and only to web addresses. */
export const isSafeStep = (from: URL, to: URL): boolean =>
  to.protocol === "https:" || (to.protocol === "http:" && from.protocol === "http:");

/** Reads a whole body. @param tooLong error for more than `limit` bytes */
export async function readLimited(
  response: Response,
  limit: number,
  tooLong: () => RelcatError,
  idleTimeout?: IdleTimeout,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    idleTimeout?.reset();
    size += chunk.length;
    if (size > limit) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Turns a network error into a message; errors with a hint stay as they are. */
export function networkProblem(
  url: string,
  error: unknown,
  idleTimeout?: IdleTimeout,
  refuse = unreachable,
): unknown {
  const shown = idleTimeout?.signal.aborted ? idleTimeout.signal.reason : error;
  if (!(shown instanceof Error) || shown.name === "RelcatError") return shown;
  const reason = shown.cause instanceof Error ? shown.cause.message : shown.message;
  return refuse(url, `cannot be read: ${reason || shown.message}`, error);
}

export const isTemporary = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** Makes errors of requests with this hint. */
export const networkFailure =
  (hint: string) =>
  (url: string, what: string, cause?: unknown): RelcatError =>
    failure("network", `${url} ${what}`, hint, undefined, cause);

export const unreachable = networkFailure("Check the address and the network, then run the command again.");
