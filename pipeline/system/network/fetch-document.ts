import { failure } from "../../../shared/errors.ts";
import { follow, networkFailure, readLimited } from "./download-request.ts";

const timeoutMilliseconds = 30_000;

/**
 * Downloads a document.
 * @throws RelcatError network with the status or the reason; usage for a URL without transport security
 */
export async function fetchDocument(url: string, limit: number): Promise<Uint8Array> {
  refusePlaintext(url);
  // The time for the whole answer: a document is small.
  const timeout = { signal: AbortSignal.timeout(timeoutMilliseconds), reset: () => {} };
  try {
    const response = await follow(url, { headers: {} }, timeout, refused, refusePlaintext);
    if (!response.ok) throw refused(url, `answered ${response.status} ${response.statusText}`.trim());
    return await readLimited(response, limit, () => refused(url, `has more than ${limit} bytes`));
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof DOMException)) throw error;
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    throw refused(url, `cannot be read: ${reason || error.message}`, error);
  }
}

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

const refused = networkFailure("Check the URL and the network, then run the command again.");
