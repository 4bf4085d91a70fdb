import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { S3Place } from "../../pipeline/documents/sites.ts";
import { type Answer, Bucket, refusal } from "./s3-bucket.ts";
import { signatureFault } from "./s3-signature.ts";

/** A received request. */
export interface Arrived {
  /** For example PutObject or UploadPart. */
  operation: string;
  key: string;
  /** Part number of an upload. */
  part: number | undefined;
  /** Status of the answer; 0: none. */
  status: number;
}

/**
 * An injected fault: a different answer; a connection broken before or after the operation, or within the
 * answer; no answer at all.
 */
export type Fault = { status: number; code: string } | "reset" | "reset after" | "truncated" | "silence";

export interface S3Fake {
  endpoint: string;
  bucket: Bucket;
  place: S3Place;
  /** Credentials and region, for processes. */
  environment: Record<string, string>;
  log: Arrived[];
  /** Returns the fault of a request. */
  fault: (request: Arrived) => Fault | undefined;
  /** Called before a request takes effect, and after that before it is answered. */
  before: (request: Arrived) => void | Promise<void>;
  after: (request: Arrived) => void | Promise<void>;
  /** Milliseconds by which its clock is ahead. */
  clockOffset: number;
  stop(): Promise<void>;
}

const id = "FAKEID";
const secret = "fake/secret+key";

/** An S3 service with one bucket, in this process. It checks signatures, digests and conditions as the real one. */
export async function startS3Fake(): Promise<S3Fake> {
  // Idle connections stay open: a slow client could use one while it is closed, a fault that no test asked for.
  const server = createServer({ keepAlive: true, keepAliveTimeout: 0 }, (request, response) => {
    serve(request, response).catch((error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const unquotedEtags = false;
  const self: S3Fake = {
    endpoint,
    bucket: new Bucket(),
    place: {
      kind: "s3",
      bucket: "site",
      prefix: "",
      endpoint,
      region: "us-east-1",
      pathStyle: true,
      unquotedEtags,
    },
    environment: {
      AWS_ACCESS_KEY_ID: id,
      AWS_SECRET_ACCESS_KEY: secret,
      AWS_REGION: "us-east-1",
      AWS_EC2_METADATA_DISABLED: "true",
    },
    log: [],
    fault: () => undefined,
    before: () => {},
    after: () => {},
    clockOffset: 0,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const { method = "", url: target = "", headers } = request;
    const url = new URL(target, endpoint);
    const [, bucket = "", ...segments] = url.pathname.split("/");
    const key = decodeURIComponent(segments.join("/"));
    const part = url.searchParams.get("partNumber");
    const operation = operationOf(method, key, url.searchParams);
    const arrived: Arrived = { operation, key, part: part === null ? undefined : Number(part), status: 0 };
    self.log.push(arrived);
    const fault = self.fault(arrived);
    if (fault === "silence") return;
    if (fault === "reset") return void response.destroy();
    const early =
      typeof fault === "object"
        ? refusal(fault.status, fault.code)
        : (requestFault(method, target, headers, body) ??
          (bucket === self.place.bucket ? undefined : refusal(404, "NoSuchBucket")));
    if (!early) await self.before(arrived);
    const answer = early ?? self.bucket.answer({ operation, key, query: url.searchParams, headers, body });
    if (!early) await self.after(arrived);
    if (fault === "reset after") return void response.destroy();
    arrived.status = answer.status;
    send(response, method, answer, fault === "truncated");
  }

  function requestFault(
    method: string,
    target: string,
    headers: IncomingMessage["headers"],
    body: Buffer,
  ): Answer | undefined {
    const code = signatureFault(
      { method, target, headers, body },
      { [id]: secret },
      Date.now() + self.clockOffset,
    );
    if (code !== undefined) return refusal(code === "XAmzContentSHA256Mismatch" ? 400 : 403, code);
    const sent = headers["content-md5"];
    if (sent === undefined) return body.length > 0 ? refusal(400, "InvalidRequest") : undefined;
    return sent === createHash("md5").update(body).digest("base64") ? undefined : refusal(400, "BadDigest");
  }

  function send(response: ServerResponse, method: string, answer: Answer, isTruncated: boolean): void {
    const { status, body = "" } = answer;
    const bytes = Buffer.from(body);
    response.sendDate = false;
    response.writeHead(status, {
      date: new Date(Date.now() + self.clockOffset).toUTCString(),
      "content-length": bytes.length,
      ...answer.headers,
    });
    if (method === "HEAD") return void response.end();
    if (!isTruncated) return void response.end(bytes);
    response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
  }

  return self;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function operationOf(method: string, key: string, query: URLSearchParams): string {
  const has = (name: string) => query.has(name);
  if (key === "") {
    if (method === "POST" && has("delete")) return "DeleteObjects";
    return has("uploads") ? "ListMultipartUploads" : "ListObjectsV2";
  }
  const ofUpload: Record<string, string> = {
    PUT: "UploadPart",
    GET: "ListParts",
    POST: "CompleteMultipartUpload",
    DELETE: "AbortMultipartUpload",
  };
  if (has("uploadId")) return ofUpload[method] ?? "Unknown";
  if (method === "POST") return "CreateMultipartUpload";
  return { PUT: "PutObject", GET: "GetObject", HEAD: "HeadObject" }[method] ?? "Unknown";
}
