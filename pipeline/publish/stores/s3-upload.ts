import { createHash } from "node:crypto";
import { failure } from "../../../shared/errors.ts";
import type { ArtifactPlace, ArtifactStore, UploadHeaders } from "../../documents/object-store.ts";
import { type FileReader, withFile } from "../../system/file-reader.ts";
import { objectTaken } from "./object-taken.ts";
import type { S3Session } from "./s3-client.ts";
import { DamagedAnswer } from "./s3-failure.ts";
import { abandonUnfinished, uploadInParts } from "./s3-parts.ts";

/** Files of more than eight parts are uploaded in parts, so that a broken connection costs only one of them. */
export function artifactsIn(
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
      if (before === "other") throw nameTaken(session, key);
      const result = await withFile(path, file, (reader) =>
        file.size <= 8 * partBytes
          ? uploadWhole(reader, key, file, put)
          : uploadInParts(session, reader, key, file, partBytes, () => compare(key, file)),
      );
      if (result === "uploaded") return result;
      // A concurrent upload came first, which is fine if its bytes are the same.
      const now = await compare(key, file);
      if (now === "same") return "present";
      throw now === "other" ? nameTaken(session, key) : gone(session, key);
    },
  };
}

async function uploadWhole(
  reader: FileReader,
  key: string,
  file: UploadHeaders,
  put: ArtifactStore["put"],
): Promise<"uploaded" | "taken"> {
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
async function digestOf({ sdk, client, bucket, full, attempt }: S3Session, key: string): Promise<string> {
  const read = async (abortSignal: AbortSignal) => {
    const command = new sdk.GetObjectCommand({ Bucket: bucket, Key: full(key) });
    const { Body, ContentLength } = await client.send(command, { abortSignal });
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
  const answer = await attempt({ verb: "read", key }, read, true);
  return "value" in answer ? answer.value : "";
}

const nameTaken = ({ named }: S3Session, key: string) => objectTaken(named(key));

const gone = ({ named }: S3Session, key: string) =>
  failure(
    "network",
    `${named(key)} cannot be written: its unfinished upload was removed in the meantime`,
    "Run the command again.",
  );
