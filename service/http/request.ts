export type Unread = "too-large" | "cut-off";

/** A request, independent of the server. */
export interface ServerRequest {
  method: string;
  /** Raw path and query. */
  target: string;
  /** The decoded path from `readPath`. */
  path: string;
  origin: string;
  /** A header's value, with repeated ones joined; null: missing. @param name in lower case */
  header(name: string): string | null;
  /** Reads the body up to `limit` bytes. Content-Length is used only to reject a long body early. */
  read(limit: number): Promise<Uint8Array | Unread>;
}

export interface ServerAnswer {
  status: number;
  /** Every name must have the same spelling everywhere, so that later headers replace earlier ones. */
  headers: Record<string, string>;
  body?: string | Uint8Array | ReadableStream<string | Uint8Array> | undefined;
}

/** Reads the whole body; undefined: no body. */
export async function wholeBody({ body }: ServerAnswer): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (body === undefined) return undefined;
  return new Uint8Array(await new Response(body as ReadableStream<Uint8Array>).arrayBuffer());
}

export const wholeAnswer = (
  status: number,
  headers: Record<string, string>,
  body: string | Uint8Array,
): ServerAnswer => ({
  status,
  headers: { ...headers, "Content-Length": String(Buffer.byteLength(body)) },
  body,
});

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

export const saysNoBody = (request: Pick<ServerRequest, "header">): boolean =>
  request.header("transfer-encoding") === null && Number(request.header("content-length") ?? 0) === 0;

export const queryOf = ({ target }: Pick<ServerRequest, "target">): URLSearchParams => {
  const start = target.indexOf("?");
  return start === -1 ? none : new URLSearchParams(target.slice(start));
};
const none = new URLSearchParams();
