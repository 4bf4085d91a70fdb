import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyOf, isCurrent } from "../http/answers.ts";
import type { FolderSite } from "./node-site.ts";

/** An answer 200 as it goes over the wire, to be given again without asking the router. */
interface ReadyAnswer {
  etag: string;
  headers: readonly string[];
  /** Without what describes a body. */
  shortHeaders: readonly string[];
  body: Uint8Array;
}

const mostBytes = 8 * 1024 * 1024;
const longestBody = 256 * 1024;

/** Accept headers of programs: whoever sends another one is asked what it means. */
const plainAccepts = new Set([undefined, "*/*", "application/json", "application/json, */*"]);

/** Answers that were given already, of one build. */
export class ReadyAnswers {
  readonly #answers = new Map<string, ReadyAnswer>();
  readonly #site: FolderSite;
  #bytes = 0;

  constructor(site: FolderSite) {
    this.#site = site;
  }

  /** @returns whether there was a ready answer */
  send(request: IncomingMessage, response: ServerResponse): boolean {
    const key = keyOf(request);
    const ready = key === undefined ? undefined : this.#answers.get(key);
    if (!ready) return false;
    const asked = request.headers["if-none-match"];
    if (asked !== undefined && isCurrent(asked, ready.etag)) {
      response.writeHead(304, ready.shortHeaders as string[]).end();
    } else {
      response.writeHead(200, ready.headers as string[]);
      response.end(request.method === "HEAD" ? undefined : ready.body);
    }
    return true;
  }

  /** Keeps a whole answer to a request that will come again. */
  keep(request: IncomingMessage, answer: Response): void {
    const key = keyOf(request);
    const body = bodyOf(answer);
    const etag = answer.headers.get("etag");
    if (key === undefined || !body || etag === null || answer.status !== 200 || request.method !== "GET")
      return;
    const held = this.#site.holds(body);
    if (!held && body.length > longestBody) return;
    this.#makeRoom(held ? 0 : body.length);
    this.#answers.set(key, {
      etag,
      headers: [...answer.headers].flat(),
      shortHeaders: [...answer.headers]
        .filter(([name]) => !["content-type", "content-length", "content-encoding"].includes(name))
        .flat(),
      body,
    });
  }

  /** Forgets everything rather than weighing what is worth keeping: it comes back as it is asked for. */
  #makeRoom(bytes: number): void {
    this.#bytes += bytes + 1024;
    if (this.#bytes <= mostBytes) return;
    this.#answers.clear();
    this.#bytes = bytes + 1024;
  }
}

/** What an answer depends on; undefined where it depends on more. */
function keyOf({ method, url, headers }: IncomingMessage): string | undefined {
  if (method !== "GET" && method !== "HEAD") return undefined;
  if (!plainAccepts.has(headers.accept)) return undefined;
  const encoding = headers["accept-encoding"] ?? "";
  return encoding.length > 100 ? undefined : `${encoding}\n${url}`;
}
