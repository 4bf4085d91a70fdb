import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { S3 } from "@aws-sdk/client-s3";
import { failure } from "../../../shared/errors.ts";
import { maxPathBytes } from "../../documents/relative-path.ts";
import type { S3Place } from "../../documents/sites.ts";
import type { RetryPolicy } from "../../system/network/fetch.ts";
import { type ObjectAction, refused, unreachable, type Verdict, verdictOf } from "./s3-failure.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** One try of an operation on an object, including reading the answer. */
type Try<T> = (object: { Bucket: string; Key: string }, request: { abortSignal: AbortSignal }) => Promise<T>;

export const defaultS3Retry: RetryPolicy = { silence: 60_000, attempts: 5, pause: 250 };

/** A try is aborted after this many silent intervals, even if bytes arrive slowly in between. */
const maxSilences = 10;

export interface S3Session {
  client: S3;
  bucket: string;
  /** Key with the bucket's prefix. */
  full(key: string): string;
  /** Key for messages. */
  named(key: string): string;
  requests(): number;
  clockOffset(): number;
  /**
   * Retries an operation after transient errors, within limits.
   * @param isLong the answer may take any time while bytes arrive
   * @returns undefined if the object is missing or a condition fails
   * @throws RelcatError storage-refused, network
   */
  attempt<T>(verb: ObjectAction["verb"], key: string, work: Try<T>, isLong?: boolean): Promise<T | undefined>;
  /** As `attempt`, but a missing object is refused, too. */
  demand<T>(verb: ObjectAction["verb"], key: string, work: Try<T>): Promise<T>;
}

/** @throws RelcatError usage if the service is not specified */
export async function openSession(
  place: S3Place,
  environment: Environment,
  retry: RetryPolicy,
): Promise<S3Session> {
  const { bucket, prefix, pathStyle } = place;
  const region = regionOf(place, environment);
  const endpoint = endpointOf(place, environment);
  // Imported lazily, because loading takes a tenth of a second.
  const sdk = await import("@aws-sdk/client-s3");
  const client = new sdk.S3({
    region,
    ...(endpoint !== undefined && { endpoint }),
    forcePathStyle: pathStyle,
    // We retry ourselves, because a repeated write must first check whether the earlier one arrived.
    maxAttempts: 1,
    // Services other than Amazon's support Content-MD5, and reject or ignore newer checksums.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    expectContinueHeader: false, // It would open a connection for each part.
    requestHandler: { connectionTimeout: retry.silence, socketTimeout: retry.silence },
  });
  addContentMd5(client);
  client.middlewareStack.remove("loggerMiddleware"); // It filters every request for an unused log.
  let requests = 0;
  const named = (key: string) => `s3://${bucket}/${prefix}${key}`;
  const full = (key: string) => requireShort(`${prefix}${key}`, named(key));
  const repeat = async <T>(verb: ObjectAction["verb"], key: string, work: Try<T>, isLong: boolean) => {
    const action = { verb, object: named(key) };
    const object = { Bucket: bucket, Key: full(key) };
    for (let tries = 1; ; tries++) {
      requests++;
      const limit = isLong ? undefined : retry.silence * maxSilences;
      const verdict = await tried((abortSignal) => work(object, { abortSignal }), limit);
      if ("value" in verdict) return verdict;
      const { kind, name } = verdict;
      if (kind === "missing" || kind === "changed") return { name };
      if (kind === "refused") throw refused(action, verdict);
      if (tries >= retry.attempts) throw unreachable(action, verdict, tries);
      await pause(retry.pause * 2 ** (tries - 1) * (0.5 + Math.random() / 2));
    }
  };
  return {
    client,
    bucket,
    full,
    named,
    requests: () => requests,
    clockOffset: () => client.config.systemClockOffset,
    async attempt(verb, key, work, isLong = false) {
      const answer = await repeat(verb, key, work, isLong);
      return "value" in answer ? answer.value : undefined;
    },
    async demand(verb, key, work) {
      const answer = await repeat(verb, key, work, false);
      if ("value" in answer) return answer.value;
      const { name } = answer;
      throw refused({ verb, object: named(key) }, { name, reason: `the service answered ${name}` });
    },
  };
}

/** All services support keys of this length, and none must support more. @throws RelcatError path-format */
function requireShort(key: string, name: string): string {
  if (Buffer.byteLength(key) <= maxPathBytes) return key;
  throw failure(
    "path-format",
    `${name} has ${Buffer.byteLength(key)} bytes with the prefix of the site, expected at most ${maxPathBytes}`,
    "Shorten the file's name, or the prefix of the site in catalog.yaml.",
  );
}

async function tried<T>(
  work: (signal: AbortSignal) => Promise<T>,
  maxMilliseconds: number | undefined,
): Promise<{ value: T } | Verdict> {
  const controller = new AbortController();
  const timer =
    maxMilliseconds === undefined ? undefined : setTimeout(() => controller.abort(), maxMilliseconds);
  try {
    return { value: await work(controller.signal) };
  } catch (error) {
    return verdictOf(error);
  } finally {
    clearTimeout(timer);
  }
}

/** Content-MD5 is the only digest that all services verify. */
function addContentMd5(client: S3): void {
  client.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as { body?: unknown; headers: Record<string, string> };
      const { body, headers } = request;
      if (typeof body === "string" || body instanceof Uint8Array) {
        for (const name of Object.keys(headers)) {
          if (/^x-amz-(checksum-|sdk-checksum-)/.test(name)) delete headers[name];
        }
        headers["content-md5"] ??= createHash("md5").update(body).digest("base64");
      }
      return next(args);
    },
    { step: "build", priority: "low", name: "contentMd5" },
  );
}

function regionOf({ bucket, region }: S3Place, environment: Environment): string {
  const found = region ?? environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION;
  if (found) return found;
  throw failure(
    "usage",
    `nothing says which region s3://${bucket} is in`,
    "Set region of the site in catalog.yaml, or AWS_REGION; for services without regions, use us-east-1.",
  );
}

function endpointOf({ bucket, endpoint }: S3Place, environment: Environment): string | undefined {
  const found = endpoint ?? (environment.AWS_ENDPOINT_URL_S3 || environment.AWS_ENDPOINT_URL || undefined);
  if (found === undefined) return undefined;
  const url = URL.canParse(found) ? new URL(found) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return found;
  throw failure(
    "usage",
    `the endpoint of s3://${bucket} is ${url?.username || url?.password ? "an address with credentials" : found}, expected an http or https address`,
    "For example: https://s3.example.com, as endpoint of the site in catalog.yaml; credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
  );
}

export const bare = (etag: string | undefined): string => (etag ?? "").replace(/^"|"$/g, "");
