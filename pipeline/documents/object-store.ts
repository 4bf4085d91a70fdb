export interface ObjectHeaders {
  contentType: string;
  cacheControl: string;
  /** Stored with the object if supported; lower-case names. */
  metadata?: Readonly<Record<string, string>>;
}

/** Write only if the object still has this ETag, or only if it does not exist. */
export type PutCondition = { ifMatch: string } | { ifNoneMatch: "*" };

export interface ListedObject {
  key: string;
  size: number;
  etag: string;
  /** Time of the last write by the store's clock, in milliseconds since 1970. */
  modified: number;
}

interface StoredObject extends Required<ObjectHeaders>, Pick<ListedObject, "etag" | "modified"> {
  bytes: Uint8Array;
  contentEncoding: string | undefined;
}

export interface ObjectInfo extends ObjectHeaders, Pick<ListedObject, "size" | "etag"> {
  contentEncoding: string | undefined;
  /** Hash of the whole object, if the store or its metadata contains it. */
  sha256: string | undefined;
}

/**
 * Objects of a bucket below a prefix; keys are relative to it. Calls are retried within limits. Every method
 * throws RelcatError: storage-refused (not permitted, naming the object), network (failed after all retries,
 * naming the object and the last reason).
 */
export interface ObjectStore {
  /** For example s3://bucket/prefix, for messages. */
  place: string;
  /** Requests sent so far, including retries. */
  requests(): number;
  /** Milliseconds by which the service's clock is ahead of ours; 0 before the first answer. */
  clockOffset(): number;
  get(key: string): Promise<StoredObject | undefined>;
  head(key: string): Promise<ObjectInfo | undefined>;
  /**
   * Writes a whole object with Content-MD5, so the service detects damaged transfers, which are retried. A
   * retry that finds its own bytes (same MD5) counts as successful.
   * @returns the ETag without quotes; "changed" if the condition did not hold
   */
  put(
    key: string,
    bytes: Uint8Array,
    headers: ObjectHeaders,
    condition?: PutCondition,
  ): Promise<{ etag: string } | "changed">;
  /** Ignores missing keys. @param before called before each request, also a retry; an exception ends the removal */
  remove(keys: readonly string[], before?: () => Promise<void>): Promise<void>;
  list(prefix: string): AsyncIterable<ListedObject>;
}

export interface MeasuredFile {
  sha256: string;
  size: number;
}

export interface UploadHeaders extends MeasuredFile, Omit<ObjectHeaders, "metadata"> {
  /** Receives the bytes that the store has, including those of an earlier attempt. */
  onProgress?: (done: number) => void;
}

/** Milliseconds after which an unfinished upload of another file counts as abandoned. */
export const abandonedAfter = 7 * 24 * 3_600_000;

/** Storage for artifacts. A key is never reused for other bytes. */
export interface ArtifactPlace {
  /** For example s3://bucket/prefix or dir:folder, for messages. */
  place: string;
  compare(key: string, file: MeasuredFile): Promise<"absent" | "same" | "other">;
  /**
   * Uploads a file to an unused key, atomically, and resumes an earlier attempt.
   * @returns "present" if the same bytes were already there
   * @throws RelcatError object-taken if other bytes are there; file-changed; whatever the other methods throw
   */
  uploadFile(key: string, path: string, file: UploadHeaders): Promise<"uploaded" | "present">;
  /** Removes what interrupted uploads left: of these keys, which exist now, and of others when it is old. */
  removeLeftovers(keys: readonly string[]): Promise<void>;
}

export interface ArtifactStore extends ObjectStore, ArtifactPlace {}
