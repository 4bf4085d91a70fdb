import { createHash } from "node:crypto";
import type { ArtifactPlace, MeasuredFile, UploadHeaders } from "../../documents/object-store.ts";
import { RelcatError } from "../../errors.ts";
import type { FileReader } from "../../system/file-reader.ts";
import { bare, refusedAs, type S3Session } from "./s3-client.ts";
import { DamagedAnswer } from "./s3-failure.ts";

const smallestPart = 8 * 1024 * 1024;
/** Limit of the protocol. */
const mostParts = 10_000;
const inFlight = 3;

/**
 * Adds up to 8 MiB that depend on the digest: an unfinished upload reveals only the sizes of its parts, and
 * one of another file must not be continued.
 */
export function partSizeOf({ size, sha256 }: MeasuredFile): number {
  const least = Math.max(smallestPart, Math.ceil(size / mostParts));
  return least + Math.floor(Number.parseInt(sha256.slice(0, 6), 16) / 2);
}

/** A started upload, with the ETags of its parts by number. */
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

/**
 * Uploads a large file in parts, and resumes an earlier attempt.
 * @returns "taken" if another upload created the object first
 */
export async function uploadInParts(
  session: S3Session,
  reader: FileReader,
  key: string,
  file: UploadHeaders,
  compare: () => ReturnType<ArtifactPlace["compare"]>,
): Promise<"uploaded" | "taken"> {
  const upload = { session, key, file, partSize: partSizeOf(file) };
  const { ours, others } = await findUnfinished(upload);
  const { id, parts } = ours ?? { id: await begin(upload), parts: new Map() };
  const etags = await sendParts(upload, id, parts, reader);
  if (!etags) return "taken";
  try {
    reader.finish();
  } catch (error) {
    await abandon(upload, id);
    throw error;
  }
  // Not all services support conditions for completing an upload.
  if ((await compare()) !== "absent") {
    await abandon(upload, id);
    return "taken";
  }
  if (!(await complete(upload, id, etags)) || (await compare()) !== "same") return "taken";
  // The object exists now, so unfinished uploads are aborted, because storage providers charge for them.
  for (const other of others) await abandon(upload, other);
  return "uploaded";
}

/** Finds unfinished uploads of the key: the most complete one of this file, and all others. */
async function findUnfinished(upload: Upload): Promise<{ ours: Unfinished | undefined; others: string[] }> {
  try {
    const ids = await listUploads(upload);
    const found: Unfinished[] = [];
    for (const id of ids) {
      const parts = await listParts(upload, id);
      if (parts) found.push({ id, parts });
    }
    const [ours] = found.sort((a, b) => b.parts.size - a.parts.size);
    return { ours, others: ids.filter((id) => id !== ours?.id) };
  } catch (error) {
    // Without permission to list uploads, a new one is started.
    if (error instanceof RelcatError && error.code === "storage-refused")
      return { ours: undefined, others: [] };
    throw error;
  }
}

async function listUploads({ session, key }: Upload): Promise<string[]> {
  const { sdk, client, bucket, full, attempt } = session;
  const answer = await attempt({ verb: "listed", key }, (abortSignal) => {
    const command = new sdk.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: full(key) });
    return client.send(command, { abortSignal });
  });
  const { Uploads = [] } = "value" in answer ? answer.value : {};
  return Uploads.flatMap(({ Key, UploadId }) => (Key === full(key) && UploadId ? [UploadId] : []));
}

/** undefined if it has no parts, or parts of another file. */
async function listParts(upload: Upload, id: string): Promise<Unfinished["parts"] | undefined> {
  const { session, key, file, partSize } = upload;
  const { sdk, client, bucket, full, attempt } = session;
  const parts = new Map<number, string>();
  for (let marker: string | undefined, isMore = true; isMore; ) {
    const answer = await attempt({ verb: "listed", key }, (abortSignal) => {
      const from = marker === undefined ? {} : { PartNumberMarker: marker };
      const command = new sdk.ListPartsCommand({ Bucket: bucket, Key: full(key), UploadId: id, ...from });
      return client.send(command, { abortSignal });
    });
    if ("none" in answer) return undefined; // It was completed or aborted in the meantime.
    for (const { PartNumber = 0, Size, ETag } of answer.value.Parts ?? []) {
      if (Size !== Math.min(partSize, file.size - (PartNumber - 1) * partSize)) return undefined;
      parts.set(PartNumber, bare(ETag));
    }
    marker = answer.value.NextPartNumberMarker;
    isMore = answer.value.IsTruncated === true && marker !== undefined;
  }
  return parts.size > 0 ? parts : undefined;
}

async function begin({ session, key, file }: Upload): Promise<string> {
  const { sdk, client, bucket, full, attempt } = session;
  const answer = await attempt({ verb: "written", key }, async (abortSignal) => {
    const command = new sdk.CreateMultipartUploadCommand({
      Bucket: bucket,
      Key: full(key),
      ContentType: file.contentType,
      CacheControl: file.cacheControl,
      Metadata: { sha256: file.sha256 },
    });
    const { UploadId } = await client.send(command, { abortSignal });
    if (!UploadId) throw new DamagedAnswer("the upload that was begun has no id");
    return UploadId;
  });
  if ("value" in answer) return answer.value;
  throw refusedAs(session, "written", key, answer.name);
}

/** @returns ETags in order; undefined if another process completed or aborted the upload */
async function sendParts(
  upload: Upload,
  id: string,
  known: Unfinished["parts"],
  reader: FileReader,
): Promise<string[] | undefined> {
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
  { session, key }: Upload,
  id: string,
  number: number,
  bytes: Buffer,
  known: string | undefined,
): Promise<string | undefined> {
  const { sdk, client, bucket, full, attempt } = session;
  const md5 = createHash("md5").update(bytes).digest();
  if (known === md5.toString("hex")) return known;
  const answer = await attempt({ verb: "written", key }, async (abortSignal) => {
    const command = new sdk.UploadPartCommand({
      Bucket: bucket,
      Key: full(key),
      UploadId: id,
      PartNumber: number,
      Body: bytes,
      ContentLength: bytes.length,
      ContentMD5: md5.toString("base64"),
    });
    return bare((await client.send(command, { abortSignal })).ETag);
  });
  return "value" in answer ? answer.value : undefined;
}

/** @returns false if the key is taken or the upload is gone */
async function complete({ session, key }: Upload, id: string, etags: string[]): Promise<boolean> {
  const { sdk, client, bucket, full, attempt } = session;
  let tries = 0;
  const answer = await attempt({ verb: "written", key }, (abortSignal) => {
    tries++;
    const command = new sdk.CompleteMultipartUploadCommand({
      Bucket: bucket,
      Key: full(key),
      UploadId: id,
      IfNoneMatch: "*",
      MultipartUpload: {
        Parts: etags.map((etag, index) => ({ PartNumber: index + 1, ETag: `"${etag}"` })),
      },
    });
    return client.send(command, { abortSignal });
  });
  if ("value" in answer) return true;
  // An earlier try may have succeeded without its answer arriving, so the caller checks the object.
  return tries > 1;
}

/** Frees the storage of its parts. A failure only wastes space until the service's lifecycle rules apply. */
async function abandon({ session, key }: Upload, id: string): Promise<void> {
  const { sdk, client, bucket, full, attempt } = session;
  try {
    await attempt({ verb: "removed", key }, (abortSignal) => {
      const command = new sdk.AbortMultipartUploadCommand({ Bucket: bucket, Key: full(key), UploadId: id });
      return client.send(command, { abortSignal });
    });
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
  }
}
