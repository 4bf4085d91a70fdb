import { createHash } from "node:crypto";
import type { HeadObjectCommandOutput, ListObjectsV2Request } from "@aws-sdk/client-s3";
import { failure } from "../../../shared/errors.ts";
import type {
  ArtifactPlace,
  ArtifactStore,
  ObjectHeaders,
  ObjectInfo,
  PutCondition,
  UploadHeaders,
} from "../../documents/object-store.ts";
import type { S3Place } from "../../documents/sites.ts";
import { type FileReader, withFile } from "../../system/file-reader.ts";
import type { RetryPolicy } from "../../system/network/fetch.ts";
import { objectTaken } from "./object-taken.ts";
import { bare, defaultS3Retry, type Environment, openSession, type S3Session } from "./s3-client.ts";
import { DamagedAnswer, refused } from "./s3-failure.ts";
import { abandonUnfinished, minPartBytes, uploadInParts } from "./s3-parts.ts";

/** Maximum per request of each kind. */
const page = 1000;

/** Files of more than eight parts of `partBytes` are uploaded in parts. @throws RelcatError usage */
export async function openS3Store(
  place: S3Place,
  environment: Environment,
  retry: RetryPolicy = defaultS3Retry,
  partBytes = minPartBytes,
): Promise<ArtifactStore> {
  const session = await openSession(place, environment, retry);
  const head = (key: string) => readHead(session, key);
  const put: ArtifactStore["put"] = (key, bytes, headers, condition) =>
    write(session, place.unquotedEtags, key, bytes, headers, condition);
  return {
    place: session.named("").replace(/\/$/, ""),
    requests: session.requests,
    clockOffset: session.clockOffset,
    get: (key) => read(session, key),
    head,
    put,
    async remove(keys, before = async () => {}) {
      for (let at = 0; at < keys.length; at += page)
        await removeSome(session, keys.slice(at, at + page), before);
    },
    list: (prefix) => list(session, prefix),
    ...artifactsIn(session, head, put, partBytes),
  };
}

const read = ({ client, attempt }: S3Session, key: string) =>
  attempt("read", key, async (object, request) => {
    const output = await client.getObject(object, request);
    const bytes = (await output.Body?.transformToByteArray()) ?? new Uint8Array();
    requireWhole(bytes, output);
    const { etag, contentType, cacheControl, contentEncoding, metadata = {} } = infoOf(output);
    const modified = output.LastModified?.getTime() ?? 0;
    return { bytes, etag, contentType, cacheControl, contentEncoding, metadata, modified };
  });

/** A broken connection or a proxy must not truncate a document. */
function requireWhole(bytes: Uint8Array, output: HeadObjectCommandOutput): void {
  const { ContentLength: length = bytes.length, ETag, Metadata, ServerSideEncryption } = output;
  if (bytes.length !== length)
    throw new DamagedAnswer(`the answer ends after ${bytes.length} of ${length} bytes`);
  const etag = bare(ETag);
  // With KMS encryption or multipart uploads, the ETag is not an MD5.
  const isMd5 = /^[0-9a-f]{32}$/.test(etag) && !ServerSideEncryption?.startsWith("aws:kms");
  const [expected, algorithm] = isMd5 ? [etag, "md5"] : [Metadata?.sha256, "sha256"];
  if (expected !== undefined && createHash(algorithm).update(bytes).digest("hex") !== expected)
    throw new DamagedAnswer("the answer has other bytes than were stored");
}

const readHead = ({ client, attempt }: S3Session, key: string) =>
  attempt("read", key, async (object, request) => infoOf(await client.headObject(object, request)));

const infoOf = (output: HeadObjectCommandOutput): ObjectInfo => ({
  size: output.ContentLength ?? 0,
  etag: bare(output.ETag),
  contentType: output.ContentType ?? "",
  cacheControl: output.CacheControl ?? "",
  metadata: output.Metadata ?? {},
  contentEncoding: output.ContentEncoding,
  sha256: output.Metadata?.sha256,
});

async function write(
  session: S3Session,
  unquoted: boolean,
  key: string,
  bytes: Uint8Array,
  headers: ObjectHeaders,
  condition: PutCondition | undefined,
): Promise<{ etag: string } | "changed"> {
  const md5 = createHash("md5").update(bytes).digest();
  const input = {
    Body: bytes,
    ContentLength: bytes.length,
    ContentMD5: md5.toString("base64"),
    ContentType: headers.contentType,
    CacheControl: headers.cacheControl,
    ...(headers.metadata && { Metadata: { ...headers.metadata } }),
    ...conditionOf(condition, unquoted),
  };
  let tries = 0;
  // Without a condition, an answer that something is missing or changed is a refusal.
  const send = condition ? session.attempt : session.demand;
  const done = await send("written", key, async (object, request) => {
    tries++;
    return { etag: bare((await session.client.putObject({ ...object, ...input }, request)).ETag) };
  });
  if (done) return done;
  // An earlier try may have succeeded without its answer arriving; then the object has these bytes.
  const now = tries > 1 ? await readHead(session, key) : undefined;
  return now?.etag === md5.toString("hex") ? { etag: now.etag } : "changed";
}

const conditionOf = (condition: PutCondition | undefined, unquoted: boolean) => {
  if (!condition) return {};
  if ("ifNoneMatch" in condition) return { IfNoneMatch: condition.ifNoneMatch };
  return { IfMatch: unquoted ? condition.ifMatch : `"${condition.ifMatch}"` };
};

async function removeSome(session: S3Session, keys: readonly string[], before: () => Promise<void>) {
  const { client, full, named, demand } = session;
  const [first = ""] = keys;
  const failed = await demand("removed", first, async ({ Bucket }, request) => {
    await before();
    const Objects = keys.map((key) => ({ Key: full(key) }));
    const { Errors = [] } = await client.deleteObjects({ Bucket, Delete: { Objects, Quiet: true } }, request);
    const [failed] = Errors.filter(({ Code }) => Code !== "NoSuchKey");
    if (failed && /^(InternalError|SlowDown|ServiceUnavailable)$/.test(failed.Code ?? ""))
      throw new DamagedAnswer(`${failed.Key}: ${failed.Code}`);
    return failed;
  });
  const { Key = first, Code = "" } = failed ?? {};
  if (Code === "") return;
  const object = Key.startsWith(full("")) && Key !== first ? `s3://${session.bucket}/${Key}` : named(first);
  throw refused({ verb: "removed", object }, { name: Code, reason: `the service answered ${Code}` });
}

async function* list(session: S3Session, prefix: string) {
  const { client, full, demand } = session;
  let from: Pick<ListObjectsV2Request, "ContinuationToken"> = {};
  for (let isMore = true; isMore; ) {
    const answer = await demand("listed", prefix, async ({ Bucket, Key: Prefix }, request) => {
      const output = await client.listObjectsV2({ Bucket, Prefix, MaxKeys: page, ...from }, request);
      // A truncated or foreign answer would look like an empty list.
      if (output.IsTruncated === undefined || (output.IsTruncated && !output.NextContinuationToken))
        throw new DamagedAnswer("the list does not say whether it continues");
      return output;
    });
    for (const { Key = "", Size = 0, ETag, LastModified } of answer.Contents ?? []) {
      // An object without a date counts as new, so that it is not removed.
      const modified = LastModified?.getTime() ?? Number.POSITIVE_INFINITY;
      yield { key: Key.slice(full("").length), size: Size, etag: bare(ETag), modified };
    }
    from = { ContinuationToken: answer.NextContinuationToken };
    isMore = answer.IsTruncated === true;
  }
}

/** A broken connection costs only one part. */
function artifactsIn(
  session: S3Session,
  head: ArtifactStore["head"],
  put: ArtifactStore["put"],
  partBytes: number,
): Omit<ArtifactPlace, "place"> {
  const compare: ArtifactPlace["compare"] = async (key, file) => {
    const there = await head(key);
    if (!there) return "absent";
    const sha256 = there.sha256 ?? (there.size === file.size ? await digestOf(session, key) : "");
    return sha256 === file.sha256 ? "same" : "other";
  };
  return {
    compare,
    removeLeftovers: (keys) => abandonUnfinished(session, keys),
    async uploadFile(key, path, file) {
      const before = await compare(key, file);
      if (before === "same") return "present";
      if (before === "other") throw objectTaken(session.named(key));
      const result = await withFile(path, file, (reader) =>
        file.size <= 8 * partBytes
          ? uploadWhole(reader, key, file, put)
          : uploadInParts(session, reader, key, file, partBytes, () => compare(key, file)),
      );
      if (result === "uploaded") return result;
      // A concurrent upload came first, which is fine if its bytes are the same.
      const now = await compare(key, file);
      if (now === "same") return "present";
      if (now === "other") throw objectTaken(session.named(key));
      throw failure(
        "network",
        `${session.named(key)} cannot be written: its unfinished upload was removed in the meantime`,
        "Run the command again.",
      );
    },
  };
}

async function uploadWhole(reader: FileReader, key: string, file: UploadHeaders, put: ArtifactStore["put"]) {
  const bytes = await reader.next(Buffer.allocUnsafeSlow(file.size));
  reader.finish();
  const { contentType, cacheControl, sha256 } = file;
  const headers = { contentType, cacheControl, metadata: { sha256 } };
  const result = await put(key, bytes, headers, { ifNoneMatch: "*" });
  if (result === "changed") return "taken";
  file.onProgress?.(file.size);
  return "uploaded";
}

/** Downloads an object without a stored digest, which another tool uploaded. */
const digestOf = ({ client, attempt }: S3Session, key: string): Promise<string | undefined> => {
  const read: Parameters<typeof attempt<string>>[2] = async (object, request) => {
    const { Body, ContentLength } = await client.getObject(object, request);
    const hash = createHash("sha256");
    let size = 0;
    for await (const chunk of (Body ?? []) as AsyncIterable<Uint8Array>) {
      hash.update(chunk);
      size += chunk.length;
    }
    if (size !== ContentLength)
      throw new DamagedAnswer(`the answer ends after ${size} of ${ContentLength} bytes`);
    return hash.digest("hex");
  };
  return attempt("read", key, read, true);
};
