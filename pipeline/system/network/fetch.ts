import { setTimeout as pause } from "node:timers/promises";
import { failure, RelcatError } from "../../../shared/errors.ts";
import {
  follow,
  type IdleTimeout,
  isTemporary,
  networkFailure,
  networkProblem,
  readLimited,
  redirection,
  requesting,
  unreachable,
} from "./download-request.ts";

export interface RetryPolicy {
  /** Milliseconds without data. */
  silence: number;
  /** Maximum number of requests while the server fails or cannot be reached. */
  attempts: number;
  /** Milliseconds before the first retry; doubled for each further one. */
  pause: number;
}

const defaultRetry: RetryPolicy = { silence: 30_000, attempts: 4, pause: 500 };

const headers = { accept: "application/json, */*;q=0.1" };

/** @param limit bytes, counted after decompression @throws RelcatError network, file-size */
export const fetchBytes = (url: string, limit: number, retry: RetryPolicy = defaultRetry) =>
  retried(url, retry, async (idleTimeout) => {
    const response = await follow(url, { headers }, idleTimeout, refused);
    if (!response.ok) throw statusProblem(url, response);
    const tooLong = () =>
      failure("file-size", `${url} has more than ${limit} bytes`, "Is this the address of the list?");
    return readLimited(response, limit, tooLong, idleTimeout);
  });

export type Redirection = Awaited<ReturnType<typeof findRedirect>>;

/** Does not follow it. @returns `location`: absolute; undefined: not a redirect @throws RelcatError network */
export const findRedirect = (url: string, retry: RetryPolicy = defaultRetry) =>
  retried(url, retry, async (idleTimeout) => {
    let response = await request(url, "HEAD", idleTimeout);
    if (response.status === 405 || response.status === 501) response = await request(url, "GET", idleTimeout);
    if (isTemporary(response.status)) throw statusProblem(url, response);
    return { status: response.status, location: redirection(response, url) };
  });

/** Does not read the body. */
async function request(url: string, method: "GET" | "HEAD", idleTimeout: IdleTimeout): Promise<Response> {
  const response = await fetch(url, { method, headers, redirect: "manual", signal: idleTimeout.signal });
  idleTimeout.reset();
  await response.body?.cancel();
  return response;
}

async function retried<T>(
  url: string,
  retry: RetryPolicy,
  ask: (idleTimeout: IdleTimeout) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await requesting(url, ask, retry.silence);
    } catch (error) {
      if (attempt >= retry.attempts || isFinal(error)) throw error;
    }
    await pause(retry.pause * 2 ** (attempt - 1));
  }
}

/** Cause of an explicit refusal, which is not retried. */
const final = Symbol("final");

const isFinal = (error: unknown) =>
  !(error instanceof RelcatError) || error.code !== "network" || error.cause === final;

function statusProblem(url: string, { status, statusText }: Response): RelcatError {
  const text = `answered ${status} ${statusText}`.trim();
  return isTemporary(status) ? unreachable(url, text) : refused(url, text);
}

const refusedWith = networkFailure(
  "Check the address; a list that needs a login can be saved and given as a file.",
);
const refused = (url: string, what: string) => refusedWith(url, what, final);

/**
 * Downloads a document, in 30 seconds for the whole answer, because it is small.
 * @throws RelcatError network with the status or the reason; usage for a URL without transport security
 */
export async function fetchDocument(url: string, limit: number): Promise<Uint8Array> {
  refusePlaintext(url);
  const timeout = { signal: AbortSignal.timeout(30_000), reset: () => {} };
  try {
    const response = await follow(url, { headers: {} }, timeout, noDocument, refusePlaintext);
    if (!response.ok) throw noDocument(url, `answered ${response.status} ${response.statusText}`.trim());
    return await readLimited(response, limit, () => noDocument(url, `has more than ${limit} bytes`));
  } catch (error) {
    throw networkProblem(url, error, undefined, noDocument);
  }
}

const noDocument = networkFailure("Check the URL and the network, then run the command again.");

/** Also for the target of each redirect. */
function refusePlaintext(url: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || /^(127\.0\.0\.1|localhost|\[::1\])$/.test(hostname)) return;
  throw failure(
    "usage",
    `${url} is not an https URL`,
    "Over http, anyone on the network path could change the content.",
  );
}
