import type { Controller } from "../../controller/server/controller.ts";
import { webApp } from "./web.ts";

export interface Answer {
  status: number;
  type: string;
  headers: Headers;
  text: string;
}
export type Ask = (
  method: string,
  path: string,
  options?: { headers?: Record<string, string>; body?: string | undefined; remote?: string },
) => Promise<Answer>;

/** Sends a request to a controller in this process; a stream is read up to its first event. */
export function asker(controller: Controller, prefix = "/-net/api/v0"): Ask {
  const app = webApp(controller);
  return async (method, path, { headers = {}, body, remote = "127.0.0.1" } = {}) => {
    const hasBody = body !== undefined && method !== "GET" && method !== "HEAD";
    const length = hasBody ? { "content-length": String(Buffer.byteLength(body)) } : {};
    const request = new Request(`http://127.0.0.1${prefix}${path}`, {
      method,
      headers: { ...length, ...headers },
      ...(hasBody && { body }),
    });
    const response = await app(request, { remote, secure: true });
    const type = response.headers.get("content-type") ?? "";
    const text = type === "text/event-stream" ? await readFirst(response) : await response.text();
    return { status: response.status, type, headers: response.headers, text };
  };
}

async function readFirst(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return Buffer.from(first?.value ?? "").toString();
}
