import { failure, type RelcatError } from "../../errors.ts";

const mostRedirects = 5;

/** A server that says nothing for a while is given up; one that is slow but speaks is not. */
export class Attention {
  private readonly controller = new AbortController();
  private readonly longest: number;
  private timer: NodeJS.Timeout | undefined;

  /** @param longest milliseconds without a sign of life */
  constructor(longest = 30_000) {
    this.longest = longest;
    this.heard();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  heard(): void {
    clearTimeout(this.timer);
    const reason = new Error(`no answer within ${this.longest / 1000} s`);
    this.timer = setTimeout(() => this.controller.abort(reason), this.longest);
  }

  /** Of a body that nobody reads to its end, too: the connection goes. */
  end(): void {
    clearTimeout(this.timer);
    this.controller.abort(new Error("nobody reads on"));
  }
}

export interface Asking {
  method?: "GET" | "HEAD";
  headers: Readonly<Record<string, string>>;
}

/**
 * Asks for what lies at an address, through the redirects that storage hosts answer with.
 * @param refuse what an address that leads astray is refused with
 */
export async function follow(
  start: string,
  asking: Asking,
  attention: Attention,
  refuse: (url: string, what: string) => RelcatError = unreachable,
): Promise<Response> {
  let url = start;
  for (let step = 0; step <= mostRedirects; step++) {
    const response = await fetch(url, { ...asking, redirect: "manual", signal: attention.signal });
    attention.heard();
    const next = redirection(response, url);
    if (!next) return response;
    await response.body?.cancel();
    if (!isSafeStep(new URL(url), next))
      throw refuse(start, `leads to ${next.protocol}//${next.host}, which is not followed`);
    url = next.href;
  }
  throw refuse(start, `leads from one address to the next more than ${mostRedirects} times`);
}

/** Where an answer leads on to; undefined for one that is no redirect. */
export function redirection({ status, headers }: Response, url: string): URL | undefined {
  const location = status >= 300 && status < 400 ? headers.get("location") : null;
  return location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined;
}

/** From https never back to http, and nowhere but to the web. */
export const isSafeStep = (from: URL, to: URL): boolean =>
  to.protocol === "https:" || (to.protocol === "http:" && from.protocol === "http:");

/** The body of an answer, whole. @param tooLong what more than `limit` bytes are refused with */
export async function readLimited(
  response: Response,
  limit: number,
  tooLong: () => RelcatError,
  attention?: Attention,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    attention?.heard();
    size += chunk.length;
    if (size > limit) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What the network said, worded; errors that say what to do already stay as they are. */
export function networkProblem(url: string, error: unknown, attention?: Attention): unknown {
  const shown = attention?.signal.aborted ? attention.signal.reason : error;
  if (!(shown instanceof Error) || shown.name === "RelcatError") return shown;
  const reason = shown.cause instanceof Error ? shown.cause.message : shown.message;
  return unreachable(url, `cannot be read: ${reason || shown.message}`, error);
}

export const isTemporary = (status: number): boolean => status === 408 || status === 429 || status >= 500;

export const unreachable = (url: string, what: string, cause?: unknown): RelcatError =>
  failure(
    "network",
    `${url} ${what}`,
    "Check the address and the network, then run the command again.",
    undefined,
    cause,
  );
