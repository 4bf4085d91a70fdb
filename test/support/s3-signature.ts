import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export interface SignedRequest {
  method: string;
  /** Path and query as they were sent. */
  target: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

const longestSkew = 15 * 60_000;

const hex = (data: string | Buffer) => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();

/**
 * Checks a request's AWS Signature Version 4, and its body.
 * @param secrets by access key id
 * @returns the name of S3's error, undefined when all is well
 */
export function signatureFault(
  { method, target, headers, body }: SignedRequest,
  secrets: Readonly<Record<string, string>>,
  now: number,
): string | undefined {
  const [, id = "", scope = "", names = "", signature = ""] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    ) ?? [];
  const secret = secrets[id];
  if (signature === "") return "AccessDenied";
  if (secret === undefined) return "InvalidAccessKeyId";
  const time = String(headers["x-amz-date"]);
  if (Math.abs(timeOf(time) - now) > longestSkew) return "RequestTimeTooSkewed";
  const payload = String(headers["x-amz-content-sha256"]);
  const [path = "", query = ""] = target.split("?");
  const signed = names.split(";");
  if (!["host", "x-amz-content-sha256", "x-amz-date"].every((name) => signed.includes(name)))
    return "SignatureDoesNotMatch";
  const canonical = [
    method,
    path,
    query.split("&").filter(Boolean).map(withValue).sort().join("&"),
    ...signed.map(
      (name) =>
        `${name}:${String(headers[name] ?? "")
          .trim()
          .replace(/ +/g, " ")}`,
    ),
    "",
    names,
    payload,
  ].join("\n");
  const key = scope.split("/").reduce<string | Buffer>(hmac, `AWS4${secret}`);
  const expected = hmac(key, ["AWS4-HMAC-SHA256", time, scope, hex(canonical)].join("\n"));
  if (!timingSafeEqual(expected, Buffer.from(signature, "hex"))) return "SignatureDoesNotMatch";
  return payload === hex(body) ? undefined : "XAmzContentSHA256Mismatch";
}

const withValue = (pair: string) => (pair.includes("=") ? pair : `${pair}=`);

const timeOf = (stamp: string) =>
  Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
