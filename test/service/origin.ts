import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { type LogEntry, type Origin, type OriginOptions, startOrigin } from "../../service/catalog/node.ts";
import { afterFile } from "../support/after-file.ts";
import { plainRelease, type Releases, releases } from "../support/catalog.ts";

export interface Running {
  origin: Origin;
  url: string;
  log: LogEntry[];
}

/** The origin over a built folder, on a free port; stopped after the test file. */
export async function serveFolder(folder: string, options: Partial<OriginOptions> = {}): Promise<Running> {
  const log: LogEntry[] = [];
  const origin = await startOrigin({
    folder,
    host: "127.0.0.1",
    port: 0,
    clock: () => 0,
    log: (entry) => log.push(entry),
    ...options,
  });
  afterFile(() => origin.close());
  return { origin, url: origin.url, log };
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  bytes: Buffer;
}

export interface Question {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** Sends a request unchanged, without added headers or a corrected path. */
export function ask(
  url: string,
  path: string,
  { method = "GET", headers = {}, body }: Question = {},
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  // Node sends the body of a DELETE without its length.
  const length: Record<string, string> =
    body === undefined ? {} : { "content-length": `${Buffer.byteLength(body)}` };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { hostname, port, path, method, headers: { ...length, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("end", () => {
          const bytes = Buffer.concat(chunks);
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: bytes.toString(),
            bytes,
          });
        });
        response.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Ids in the order of a JSON list. */
export const idsOf = ({ text }: Answer): number[] => JSON.parse(text).map(({ id }: { id: number }) => id);

/** Ids 1 and 3 have one version, 2 a later one, so that all orderings differ. */
export async function threeRecords(): Promise<Releases> {
  const older = (...names: string[]) => plainRelease("26.01.001", names);
  const catalog = releases(older("alpha.rpm"));
  await catalog.cut({}, "2026-01-20T10:00:00Z");
  catalog.write(plainRelease("26.02.001", ["beta.rpm"]));
  await catalog.cut({}, "2026-02-20T10:00:00Z");
  catalog.write(older("alpha.rpm", "gamma.rpm"));
  await catalog.cut({}, "2026-03-20T10:00:00Z");
  await catalog.build();
  return catalog;
}
