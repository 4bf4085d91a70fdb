import { createHash } from "node:crypto";
import type { ListMultipartUploadsRequest, ListPartsRequest } from "@aws-sdk/client-s3";
import { RelcatError } from "../../../shared/errors.ts";
import {
  type ArtifactPlace,
  abandonedAfter,
  type MeasuredFile,
  type UploadHeaders,
} from "../../documents/object-store.ts";
import type { FileReader } from "../../system/file-reader.ts";
import { bare, type S3Session } from "./s3-client.ts";
import { DamagedAnswer } from "./s3-failure.ts";

export const minPartBytes = 8 * 1024 * 1024;
/** Limit of the protocol. */
const maxParts = 10_000;
const inFlight = 3;

/** Depends on the digest: of an unfinished upload, only the sizes of parts tell whether it is of the same file. */
export function partSizeOf({ size, sha256 }: MeasuredFile, partBytes = minPartBytes): number {
  const least = Math.max(partBytes, Math.ceil(size / maxParts));
  return least + Math.floor((Number.parseInt(sha256.slice(0, 6), 16) / 2 ** 24) * partBytes);
}

interface Unfinished {
  id: string;
  parts: ReadonlyMap<number, string>;
}

interface Upload {
  session: S3Session;
  key: string;
  file: UploadHeaders;
  partSize: number;
}

/** Resumes an earlier attempt. @returns "taken" if another upload created the object first */
export async function uploadInParts(
  session: S3Session,
  reader: FileReader,
  key: string,
  file: UploadHeaders,
  partBytes: number,
  compare: () => ReturnType<ArtifactPlace["compare"]>,
): Promise<"uploaded" | "taken"> {
  const upload = { session, key, file, partSize: partSizeOf(file, partBytes) };
  const { id, parts } = (await findUnfinished(upload)) ?? { id: await begin(upload), parts: new Map() };
  const etags = await sendParts(upload, id, parts, reader);
  if (!etags) return "taken";
  try {
    reader.finish();
  } catch (error) {
    await abandon(session, key, id);
    throw error;
  }
  // Not all services support conditions for completing an upload.
  if ((await compare()) !== "absent") {
    await abandon(session, key, id);
    return "taken";
  }
  return (await complete(upload, id, etags)) && (await compare()) === "same" ? "uploaded" : "taken";
}

async function findUnfinished(upload: Upload): Promise<Unfinished | undefined> {
  const found: Unfinished[] = [];
  for (const { key, id } of await listUploads(upload.session, upload.key)) {
    const parts = key === upload.key ? await listParts(upload, id) : undefined;
    if (parts) found.push({ id, parts });
  }
  return found.sort((a, b) => b.parts.size - a.parts.size)[0];
}

/** Aborts old uploads, and those of `keys`, which exist now: storage providers charge for their parts. */
export async function abandonUnfinished(session: S3Session, keys: readonly string[]): Promise<void> {
  for (const folder of new Set(keys.map((key) => key.replace(/\/.*/s, "/"))))
    for (const { key, id, begun } of await listUploads(session, folder))
      if (keys.includes(key) || Date.now() - begun > abandonedAfter) await abandon(session, key, id);
}

/** Without permission to list uploads, none is found. */
async function listUploads(session: S3Session, prefix: string) {
  const { client, full, attempt } = session;
  const found: { key: string; id: string; begun: number }[] = [];
  let from: Pick<ListMultipartUploadsRequest, "KeyMarker" | "UploadIdMarker"> = {};
  try {
    for (let isMore = true; isMore; ) {
      const answer = await attempt("listed", prefix, ({ Bucket, Key: Prefix }, request) =>
        client.listMultipartUploads({ Bucket, Prefix, ...from }, request),
      );
      const { Uploads = [], NextKeyMarker, NextUploadIdMarker } = answer ?? {};
      for (const { Key = "", UploadId: id = "", Initiated = new Date() } of Uploads)
        found.push({ key: Key.slice(full("").length), id, begun: Initiated.getTime() });
      from = { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker };
      isMore = answer?.IsTruncated === true && NextKeyMarker !== undefined;
    }
  } catch (error) {
    if (!(error instanceof RelcatError && error.code === "storage-refused")) throw error;
  }
  return found;
}

/** undefined if it has no parts, or parts of another file. */
async function listParts(upload: Upload, id: string): Promise<Unfinished["parts"] | undefined> {
  const { session, key, file, partSize } = upload;
  const { client, attempt } = session;
  const parts = new Map<number, string>();
  let from: Pick<ListPartsRequest, "PartNumberMarker"> = {};
  for (let isMore = true; isMore; ) {
    const answer = await attempt("listed", key, (object, request) =>
      client.listParts({ ...object, UploadId: id, ...from }, request),
    );
    if (!answer) return undefined; // It was completed or aborted in the meantime.
    for (const { PartNumber = 0, Size, ETag } of answer.Parts ?? []) {
      if (Size !== Math.min(partSize, file.size - (PartNumber - 1) * partSize)) return undefined;
      parts.set(PartNumber, bare(ETag));
    }
    from = { PartNumberMarker: answer.NextPartNumberMarker };
    isMore = answer.IsTruncated === true && answer.NextPartNumberMarker !== undefined;
  }
  return parts.size > 0 ? parts : undefined;
}

function begin({ session: { client, demand }, key, file }: Upload): Promise<string> {
  const { contentType: ContentType, cacheControl: CacheControl, sha256 } = file;
  return demand("written", key, async (object, request) => {
    const input = { ...object, ContentType, CacheControl, Metadata: { sha256 } };
    const { UploadId } = await client.createMultipartUpload(input, request);
    if (!UploadId) throw new DamagedAnswer("the upload that was begun has no id");
    return UploadId;
  });
}

/** @returns ETags in order; undefined if another process completed or aborted the upload */
async function sendParts(upload: Upload, id: string, known: Unfinished["parts"], reader: FileReader) {
  const { file, partSize } = upload;
  const etags = new Array<string>(Math.ceil(file.size / partSize));
  let next = 1;
  let done = 0;
  let isGone = false;
  let isFailed = false;
  let turn: Promise<unknown> = Promise.resolve();
  const sender = async () => {
    const buffer = Buffer.allocUnsafeSlow(partSize);
    while (next <= etags.length && !isGone && !isFailed) {
      const number = next++;
      // Sequential, because the digest of the whole file is computed along the way.
      const reading = turn.then(() => reader.next(buffer));
      turn = reading;
      const part = await reading;
      const etag = await sendPart(upload, id, number, part, known.get(number));
      if (etag === undefined) isGone = true;
      else etags[number - 1] = etag;
      done += part.length;
      file.onProgress?.(done);
    }
  };
  const careful = () =>
    sender().catch((error: unknown) => {
      isFailed = true;
      throw error;
    });
  // All readers must end before the file is closed.
  const ended = await Promise.allSettled(Array.from({ length: inFlight }, careful));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
  return isGone ? undefined : etags;
}

async function sendPart(
  { session: { client, attempt }, key }: Upload,
  id: string,
  number: number,
  bytes: Buffer,
  known: string | undefined,
): Promise<string | undefined> {
  const md5 = createHash("md5").update(bytes).digest();
  if (known === md5.toString("hex")) return known;
  const content = { Body: bytes, ContentLength: bytes.length, ContentMD5: md5.toString("base64") };
  return attempt("written", key, async (object, request) => {
    const input = { ...object, UploadId: id, PartNumber: number, ...content };
    return bare((await client.uploadPart(input, request)).ETag);
  });
}

/** @returns false if the key is taken or the upload is gone */
async function complete({ session, key }: Upload, id: string, etags: string[]): Promise<boolean> {
  const Parts = etags.map((etag, index) => ({ PartNumber: index + 1, ETag: `"${etag}"` }));
  const input = { UploadId: id, IfNoneMatch: "*", MultipartUpload: { Parts } };
  let tries = 0;
  const done = await session.attempt("written", key, (object, request) => {
    tries++;
    return session.client.completeMultipartUpload({ ...object, ...input }, request);
  });
  // An earlier try may have succeeded without its answer arriving, so the caller checks the object.
  return done !== undefined || tries > 1;
}

/** Frees the storage of its parts. A failure only wastes space until the service's lifecycle rules apply. */
async function abandon({ client, attempt }: S3Session, key: string, id: string): Promise<void> {
  try {
    await attempt("removed", key, (object, request) =>
      client.abortMultipartUpload({ ...object, UploadId: id }, request),
    );
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
  }
}
