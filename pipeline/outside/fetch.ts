import { setTimeout as pause } from "node:timers/promises";
import { failure, RelcatError } from "../errors.ts";

/** How long and how often a server is asked. */
export interface Patience {
  /** Milliseconds without any answer, and between two parts of one. */
  silence: number;
  /** Requests in all, when the server fails or cannot be reached. */
  attempts: number;
  /** Milliseconds before the second request; doubled before each later one. */
  pause: number;
}

export const usualPatience: Patience = { silence: 30_000, attempts: 4, pause: 500 };

const mostRedirects = 5;

/**
 * The body of a document, whole or not at all.
 * @param limit bytes, counted after decompression
 * @throws RelcatError network, file-size
 */
export async function fetchBytes(
  url: string,
  limit: number,
  patience: Patience = usualPatience,
): Promise<Uint8Array> {
  return retried(url, patience, async (silence) => {
    const response = await follow(url, silence);
    if (!response.ok) throw statusProblem(url, response);
    return readBody(response, url, limit, silence);
  });
}

/** What a server answers about a download that it may send elsewhere. */
export interface Redirection {
  status: number;
  /** Absolute; undefined when the answer is none of another address. */
  location: URL | undefined;
}

/**
 * Asks where an address leads, without going there.
 * @throws RelcatError network
 */
export async function findRedirect(url: string, patience: Patience = usualPatience): Promise<Redirection> {
  return retried(url, patience, async (silence) => {
    let response = await request(url, "HEAD", silence);
    if (response.status === 405 || response.status === 501) response = await request(url, "GET", silence);
    if (isTemporary(response.status)) throw statusProblem(url, response);
    const { status } = response;
    return { status, location: status >= 300 && status < 400 ? locationOf(response, url) : undefined };
  });
}

async function follow(start: string, silence: Silence): Promise<Response> {
  let url = start;
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const response = await request(url, "GET", silence, false);
    const next = response.status >= 300 && response.status < 400 ? locationOf(response, url) : undefined;
    if (!next) return response;
    await response.body?.cancel();
    if (!isSafeStep(new URL(url), next))
      throw refused(start, `leads to ${next.protocol}//${next.host}, which is not followed`);
    url = next.href;
  }
  throw refused(start, `leads from one address to the next more than ${mostRedirects} times`);
}

/** From https never back to http, and nowhere but to the web. */
export const isSafeStep = (from: URL, to: URL): boolean =>
  to.protocol === "https:" || (to.protocol === "http:" && from.protocol === "http:");

function locationOf(response: Response, url: string): URL | undefined {
  const location = response.headers.get("location");
  return location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined;
}

async function request(
  url: string,
  method: "GET" | "HEAD",
  silence: Silence,
  bodyless = true,
): Promise<Response> {
  silence.heard();
  const headers = { accept: "application/json, */*;q=0.1" };
  const response = await fetch(url, { method, headers, redirect: "manual", signal: silence.signal });
  silence.heard();
  if (bodyless) await response.body?.cancel();
  return response;
}

async function readBody(
  response: Response,
  url: string,
  limit: number,
  silence: Silence,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    silence.heard();
    size += chunk.length;
    if (size > limit) {
      throw failure("file-size", `${url} has more than ${limit} bytes`, "Is it the address of the list?");
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A server that says nothing for a while is given up; one that is slow but speaks is not. */
class Silence {
  private readonly controller = new AbortController();
  private readonly longest: number;
  private timer: NodeJS.Timeout | undefined;

  constructor(longest: number) {
    this.longest = longest;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  heard(): void {
    this.end();
    const reason = new Error(`no answer within ${this.longest / 1000} s`);
    this.timer = setTimeout(() => this.controller.abort(reason), this.longest);
  }

  end(): void {
    clearTimeout(this.timer);
  }
}

async function retried<T>(
  url: string,
  patience: Patience,
  ask: (silence: Silence) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const silence = new Silence(patience.silence);
    try {
      return await ask(silence);
    } catch (error) {
      const failed = networkProblem(url, silence.signal.aborted ? silence.signal.reason : error);
      if (attempt >= patience.attempts || isFinal(failed)) throw failed;
    } finally {
      silence.end();
    }
    await pause(patience.pause * 2 ** (attempt - 1));
  }
}

const isTemporary = (status: number) => status === 408 || status === 429 || status >= 500;

/** A server that answers, and says no, will say no again. */
const isFinal = (error: unknown) =>
  !(error instanceof RelcatError) || error.code !== "network" || error.cause === final;
const final = Symbol("final");

function statusProblem(url: string, { status, statusText }: Response): RelcatError {
  const text = `answered ${status} ${statusText}`.trim();
  return isTemporary(status) ? unreachable(url, text) : refused(url, text);
}

function networkProblem(url: string, error: unknown): unknown {
  if (error instanceof RelcatError || !(error instanceof Error)) return error;
  const reason = error.cause instanceof Error ? error.cause.message : error.message;
  return unreachable(url, `cannot be read: ${reason || error.message}`, error);
}

const unreachable = (url: string, what: string, cause?: unknown) =>
  failure(
    "network",
    `${url} ${what}`,
    "Check the address and the network, then run the command again.",
    undefined,
    cause,
  );

const refused = (url: string, what: string) =>
  failure(
    "network",
    `${url} ${what}`,
    "Check the address; a list that needs a login can be saved and given as a file.",
    undefined,
    final,
  );
