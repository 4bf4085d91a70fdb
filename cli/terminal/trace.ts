import { type ChannelListener, subscribe, unsubscribe } from "node:diagnostics_channel";
import { harmless } from "./cells.ts";
import type { Host } from "./host.ts";
import { shellWord } from "./words.ts";

/** A request of `fetch` or of `node:http`, as Node announces it. */
interface Exchange {
  request: {
    method: string;
    path: string;
    /** Set by `fetch`. */
    origin?: string | URL;
    /** Set by `node:http`. */
    protocol?: string;
    host?: string;
    getHeader?(name: string): unknown;
  };
  response?: { statusCode: number };
  error?: NodeJS.ErrnoException;
}

interface Started {
  process: { spawnargs: readonly string[] };
}

/** Node announces each command and request, so that no caller can leave one out. @returns ends it */
export function trace(host: Host): () => void {
  const line = (text: string) => sayDetail(host, harmless(withoutCredentials(text)));
  const answered = new WeakSet<object>();
  const exchanged = (message: unknown) => {
    const { request, response, error } = message as Exchange;
    // A body that is not read to its end is reported as an error after the answer.
    if (answered.has(request)) return;
    answered.add(request);
    const end = response ? `answer ${response.statusCode}` : `no answer: ${error?.code ?? error?.message}`;
    line(`Request: ${request.method} ${addressOf(request)}, ${end}`);
  };
  const started = (message: unknown) => {
    const { process } = message as Started;
    // Announced before the arguments are set.
    queueMicrotask(() => line(`Run: ${process.spawnargs.map(shellWord).join(" ")}`));
  };
  const listeners: readonly (readonly [channel: string, listener: ChannelListener])[] = [
    ["child_process", started],
    ["undici:request:headers", exchanged],
    ["undici:request:error", exchanged],
    ["http.client.response.finish", exchanged],
    ["http.client.request.error", exchanged],
  ];
  for (const [channel, listener] of listeners) subscribe(channel, listener);
  return () => {
    for (const [channel, listener] of listeners) unsubscribe(channel, listener);
  };
}

/** Prints the stacks of the errors that led to an error. Other properties may contain credentials. */
export function sayCauses(error: unknown, host: Host): void {
  for (let { cause } = Object(error); cause instanceof Error; cause = cause.cause) {
    const lines = withoutCredentials(cause.stack ?? cause.message).split("\n");
    sayDetail(host, `Cause: ${lines.map(harmless).join("\n")}`);
  }
}

/** Replaces a progress line, which is drawn again later. */
function sayDetail({ messages }: Host, text: string): void {
  const start = messages.columns === undefined ? "" : "\r\x1b[K";
  messages.write(`${start}${messages.style("dim", text)}\n`);
}

/** Parameters of lists and parts in buckets; any other may be a signature or a token. */
const harmlessParameters = new Set(["list-type", "partNumber", "prefix", "x-id"]);

function addressOf(request: Exchange["request"]): string {
  const { origin = `${request.protocol}//${request.getHeader?.("host") ?? request.host}` } = request;
  const [name = "", query] = request.path.split("?", 2);
  const parameters = [...new URLSearchParams(query)].map(([key, value]) => {
    if (value === "") return key;
    return `${key}=${harmlessParameters.has(key) ? encodeURI(value) : "…"}`;
  });
  const shown = parameters.length > 0 ? `?${parameters.join("&")}` : "";
  return `${origin}${name}${shown}`;
}

const withoutCredentials = (text: string): string => text.replace(/\/\/[^\s/@]+@/g, "//");
