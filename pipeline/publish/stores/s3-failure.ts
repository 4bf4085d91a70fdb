import { failure, RelcatError } from "../../../shared/errors.ts";

export interface ObjectAction {
  verb: "read" | "written" | "removed" | "listed";
  /** For example s3://bucket/prefix/key. */
  object: string;
}

/** A truncated or corrupted answer. */
export class DamagedAnswer extends Error {
  override readonly name = "DamagedAnswer";
}

/** `missing` and `changed` are valid answers, `retry` is transient, and `refused` is permanent. */
export interface Verdict {
  kind: "missing" | "changed" | "retry" | "refused";
  /** The service's name for it, such as NoSuchUpload. */
  name: string;
  reason: string;
}

interface ServiceError extends Error {
  code?: unknown;
  $metadata?: { httpStatusCode?: number; clockSkewCorrected?: boolean };
  $response?: unknown;
}

const damagedOnTheWay = new Set([
  "BadDigest",
  "IncompleteBody",
  "InternalError",
  "RequestTimeout",
  "XAmzContentSHA256Mismatch",
]);

/** @throws errors that are neither answers nor network failures, such as bugs */
export function verdictOf(error: unknown): Verdict {
  if (!(error instanceof Error) || error instanceof RelcatError) throw error;
  const { name, $metadata, $response, code } = error as ServiceError;
  const status = $metadata?.httpStatusCode;
  if (name === "CredentialsProviderError")
    return { kind: "refused", name, reason: "there are no credentials" };
  if (status === undefined || status < 300) {
    const isTransport = typeof code === "string" || $response !== undefined || status !== undefined;
    if (!isTransport && !["TimeoutError", "AbortError", "DamagedAnswer"].includes(name)) throw error;
    return { kind: "retry", name, reason: transportReason(error as ServiceError) };
  }
  // The SDK says so of every answer while the clock is wrong, also of a missing object.
  const isCorrected = $metadata?.clockSkewCorrected === true && status === 403;
  const isSkewed = isCorrected || name === "RequestTimeTooSkewed";
  const reason = serviceReason(error, status);
  return { kind: isSkewed ? "retry" : kindOf(status, name), name, reason };
}

function kindOf(status: number, name: string): Verdict["kind"] {
  if (status === 404) return name === "NoSuchBucket" ? "refused" : "missing";
  if (status === 412) return "changed";
  if (status === 501 || status === 505) return "refused";
  // 409: a conditional write collided with a concurrent one.
  if (status >= 500 || status === 408 || status === 409 || status === 429) return "retry";
  return damagedOnTheWay.has(name) ? "retry" : "refused";
}

function serviceReason({ name, message }: Error, status: number): string {
  // The answer to HEAD has no body with details.
  const isKnown = name !== "" && !["Error", "Unknown", "UnknownError", String(status)].includes(name);
  const text = firstLine(message);
  const hasText = text !== "" && text !== name && !/^(UnknownError|Unknown)$/.test(text);
  return `the service answered ${status}${isKnown ? ` ${name}` : ""}${hasText && isKnown ? `, ${text}` : ""}`;
}

function transportReason({ name, message, code, $metadata }: ServiceError): string {
  const isReset = typeof code === "string" && code !== "ETIMEDOUT"; // The SDK also uses this name for time-outs.
  if (!isReset && (name === "TimeoutError" || name === "AbortError")) return "no answer came in time";
  if (name === "DamagedAnswer") return message;
  if ($metadata?.httpStatusCode !== undefined && typeof code !== "string")
    return `the answer cannot be understood: ${firstLine(message)}`;
  return firstLine(message) || String(code);
}

const firstLine = (text: string) => text.split("\n", 1)[0]?.slice(0, 200) ?? "";

export function unreachable({ verb, object }: ObjectAction, { name, reason }: Verdict, tries: number) {
  if (name === "RequestTimeTooSkewed") return refused({ verb, object }, { name, reason });
  return failure(
    "network",
    `${object} cannot be ${verb}: ${reason} (${tries} tries)`,
    "Check the network and the service, then run the command again: what has arrived is not sent again.",
  );
}

/** Omits the cause, because it contains the request with its credentials. */
export const refused = ({ verb, object }: ObjectAction, { name, reason }: Pick<Verdict, "name" | "reason">) =>
  failure("storage-refused", `${object} may not be ${verb}: ${reason}`, hints[name] ?? usualHint);

const usualHint =
  "Let these credentials read, write, list and remove objects there, or correct the site in catalog.yaml.";
const checkKeys =
  "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, to credentials that the service accepts.";
const signInAgain = "The credentials have expired: sign in again, or start the job again.";
const checkRegion = "Set region and endpoint of the site in catalog.yaml to where the bucket is.";

const hints: Readonly<Record<string, string>> = {
  AuthorizationHeaderMalformed: checkRegion,
  CredentialsProviderError: checkKeys,
  ExpiredToken: signInAgain,
  InvalidAccessKeyId: checkKeys,
  InvalidToken: signInAgain,
  NoSuchBucket: "Create the bucket, or correct url of the site in catalog.yaml.",
  NotImplemented: "This service lacks a required feature: conditional writes, at least.",
  PermanentRedirect: checkRegion,
  RequestTimeTooSkewed: "Set the clock of this machine.",
  SignatureDoesNotMatch: checkKeys,
};
