import { failure, RelcatError } from "../../errors.ts";

/** What was done to an object, for messages. */
export interface ObjectAction {
  verb: "read" | "written" | "removed" | "listed";
  /** Such as s3://bucket/prefix/key. */
  object: string;
}

/** An answer that came, but not whole or not as it was sent. */
export class DamagedAnswer extends Error {
  override readonly name = "DamagedAnswer";
}

/**
 * What an error of the SDK means for the request that it ended.
 * `missing` and `changed` are answers; `retry` may go away by itself; `refused` will not.
 */
export interface Verdict {
  kind: "missing" | "changed" | "retry" | "refused";
  /** As the service calls it, such as NoSuchUpload. */
  name: string;
  reason: string;
}

/** What the SDK's errors carry beside their message. */
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

/** @throws what is no answer and no failure of the network: a bug, or a reason not to ask */
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
  const isSkewed = $metadata?.clockSkewCorrected === true || name === "RequestTimeTooSkewed";
  const reason = serviceReason(error, status);
  return { kind: isSkewed ? "retry" : kindOf(status, name), name, reason };
}

function kindOf(status: number, name: string): Verdict["kind"] {
  if (status === 404) return name === "NoSuchBucket" ? "refused" : "missing";
  if (status === 412) return "changed";
  if (status === 501 || status === 505) return "refused";
  // 409: a conditional write met another one that was under way.
  if (status >= 500 || status === 408 || status === 409 || status === 429) return "retry";
  return damagedOnTheWay.has(name) ? "retry" : "refused";
}

function serviceReason({ name, message }: Error, status: number): string {
  // A HEAD has no body that could say more.
  const isKnown = name !== "" && !["Error", "Unknown", "UnknownError", String(status)].includes(name);
  const said = firstLine(message);
  const isTold = said !== "" && said !== name && !/^(UnknownError|Unknown)$/.test(said);
  return `the service answered ${status}${isKnown ? ` ${name}` : ""}${isTold && isKnown ? `, ${said}` : ""}`;
}

function transportReason({ name, message, code, $metadata }: ServiceError): string {
  const isReset = typeof code === "string" && code !== "ETIMEDOUT"; // The SDK calls that a time-out too.
  if (!isReset && (name === "TimeoutError" || name === "AbortError")) return "no answer came in time";
  if (name === "DamagedAnswer") return message;
  if ($metadata?.httpStatusCode !== undefined && typeof code !== "string")
    return `the answer cannot be understood: ${firstLine(message)}`;
  return firstLine(message) || String(code);
}

const firstLine = (text: string) => text.split("\n", 1)[0]?.slice(0, 200) ?? "";

/** All tries failed in a way that another day may not. */
export function unreachable(
  { verb, object }: ObjectAction,
  { name, reason }: Verdict,
  tries: number,
): RelcatError {
  if (name === "RequestTimeTooSkewed") return refused({ verb, object }, { name, reason });
  return failure(
    "network",
    `${object} cannot be ${verb}: ${reason} (${tries} tries)`,
    "Check the network and the service, then run the command again: what has arrived is not sent twice.",
  );
}

/** The cause is left out: it holds the request, and with it the credentials. */
export const refused = ({ verb, object }: ObjectAction, { name, reason }: Pick<Verdict, "name" | "reason">) =>
  failure("storage-refused", `${object} may not be ${verb}: ${reason}`, hints[name] ?? usualHint);

const usualHint =
  "Let these credentials read, write, list and remove objects there, or correct the site in catalog.yaml.";
const checkKeys =
  "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, to what the service knows.";
const signInAgain = "The credentials have expired: sign in again, or start the job again.";
const checkRegion = "Set region and endpoint of the site in catalog.yaml to where the bucket is.";

const hints: Readonly<Record<string, string>> = {
  AuthorizationHeaderMalformed: checkRegion,
  CredentialsProviderError: checkKeys,
  ExpiredToken: signInAgain,
  InvalidAccessKeyId: checkKeys,
  InvalidToken: signInAgain,
  NoSuchBucket: "Create the bucket, or correct url of the site in catalog.yaml.",
  NotImplemented: "This service cannot do what is needed: conditional writes, at least.",
  PermanentRedirect: checkRegion,
  RequestTimeTooSkewed: "Set the clock of this machine.",
  SignatureDoesNotMatch: checkKeys,
};
