/** Why a body was not taken. */
export type Unread = "too-large" | "cut-off";

/** A request as far as a server looks at it. Nothing is made of it before somebody asks. */
export interface ServerRequest {
  method: string;
  /** Path and query as they were sent. */
  target: string;
  /** The path as `readPath` gives it: decoded, once. */
  path: string;
  /** Scheme and host it was sent to. */
  origin: string;
  /** The value of a header, repeated ones joined; null: there is none. @param name in small letters */
  header(name: string): string | null;
  /** The body, up to `limit` bytes. What a client says of its length is believed only when it is too much. */
  read(limit: number): Promise<Uint8Array | Unread>;
}

/** What is sent back. */
export interface ServerAnswer {
  status: number;
  /** Each name in one spelling, so that a later one replaces an earlier one. */
  headers: Record<string, string>;
  body?: string | Uint8Array | ReadableStream<string | Uint8Array> | undefined;
}

/** The body of an answer at once; undefined: it has none. */
export async function wholeBody({ body }: ServerAnswer): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (body === undefined) return undefined;
  return new Uint8Array(await new Response(body as ReadableStream<Uint8Array>).arrayBuffer());
}

/** An answer whose length is stated. */
export const wholeAnswer = (
  status: number,
  headers: Record<string, string>,
  body: string | Uint8Array,
): ServerAnswer => ({
  status,
  headers: { ...headers, "Content-Length": String(Buffer.byteLength(body)) },
  body,
});

/** The headers and the body of a request that sends JSON, or none. */
export function jsonBody(
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Pick<ServerRequest, "header" | "read"> {
  const body = value === undefined ? undefined : Buffer.from(JSON.stringify(value));
  const all: Record<string, string> = {
    ...headers,
    ...(body && { "content-type": "application/json", "content-length": String(body.length) }),
  };
  return {
    header: (name) => all[name] ?? null,
    read: async (limit) => (body && body.length > limit ? "too-large" : (body ?? new Uint8Array())),
  };
}

/** Whether a request says that it has no body at all. */
export const saysNoBody = (request: Pick<ServerRequest, "header">): boolean =>
  request.header("transfer-encoding") === null && Number(request.header("content-length") ?? 0) === 0;

/** The parameters of a request. */
export const queryOf = ({ target }: Pick<ServerRequest, "target">): URLSearchParams => {
  const start = target.indexOf("?");
  return start === -1 ? none : new URLSearchParams(target.slice(start));
};
const none = new URLSearchParams();
