import { controllerApp } from "../../controller/server/app.ts";
import type { Caller } from "../../controller/server/call.ts";
import type { Controller } from "../../controller/server/controller.ts";
import { readPath } from "../../service/http/path.ts";

/** A controller without a server, for Request and Response objects. */
export function webApp(controller: Controller): (request: Request, caller: Caller) => Promise<Response> {
  const app = controllerApp(controller);
  return async (request, caller) => {
    const { origin, pathname, search } = new URL(request.url);
    const { status, headers, body } = await app(
      {
        method: request.method,
        target: pathname + search,
        path: readPath(pathname, "") ?? "bad",
        origin,
        header: (name) => request.headers.get(name),
        read: async (limit) => {
          const body = await request.bytes().catch(() => undefined);
          return body === undefined ? "cut-off" : body.length > limit ? "too-large" : body;
        },
      },
      caller,
    );
    const isBare = request.method === "HEAD" || status === 204;
    return new Response(isBare ? null : bytesOf(body), { status, headers });
  };
}

type Body = ConstructorParameters<typeof Response>[0];

function bytesOf(body: unknown): Body {
  if (!(body instanceof ReadableStream)) return (body as Body) ?? null;
  const encoder = new TextEncoder();
  return body.pipeThrough(
    new TransformStream({
      transform: (part, out) => out.enqueue(typeof part === "string" ? encoder.encode(part) : part),
    }),
  );
}
