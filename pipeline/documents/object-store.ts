/** What an object is answered with. */
export interface ObjectHeaders {
  contentType: string;
  cacheControl: string;
  /** Kept with the object where the store can: lower-case names. */
  metadata?: Readonly<Record<string, string>>;
}

/** Only if the object still has this ETag, or only if there is none. */
export type PutCondition = { ifMatch: string } | { ifNoneMatch: "*" };

export interface ListedObject {
  key: string;
  size: number;
  etag: string;
  /** When it was written, by the store's clock, in milliseconds since 1970. */
  modified: number;
}

interface StoredObject {
  bytes: Uint8Array;
  etag: string;
  contentType: string;
  cacheControl: string;
  contentEncoding: string | undefined;
  metadata: Readonly<Record<string, string>>;
  /** When it was written, by the store's clock, in milliseconds since 1970. */
  modified: number;
}

export interface ObjectInfo extends ObjectHeaders {
  size: number;
  etag: string;
  contentEncoding: string | undefined;
  /** Of the whole object, where the store or its metadata says so. */
  sha256: string | undefined;
}

/**
 * A bucket's objects below a prefix; keys are relative to it. Each call is retried within bounds.
 * Every method throws RelcatError: storage-refused (what the service does not allow, naming the object),
 * network (it failed after all retries, naming the object and the last reason).
 */
export interface ObjectStore {
  /** Such as s3://bucket/prefix: for messages. */
  place: string;
  /** Requests that were sent so far, retries included. */
  requests(): number;
  get(key: string): Promise<StoredObject | undefined>;
  head(key: string): Promise<ObjectInfo | undefined>;
  /**
   * Writes a whole object, with Content-MD5; a truncated or damaged transfer is an error of the service, and retried.
   * A retry whose first try had arrived finds its own bytes (same MD5) and counts as done.
   * @returns the ETag without quotes; "changed" where the condition did not hold
   */
  put(
    key: string,
    bytes: Uint8Array,
    headers: ObjectHeaders,
    condition?: PutCondition,
  ): Promise<{ etag: string } | "changed">;
  /**
   * Removes what is there of these keys.
   * @param before called before each request, retries included; what it throws ends the removal
   */
  remove(keys: readonly string[], before?: () => Promise<void>): Promise<void>;
  /** All keys that begin with `prefix`, a page at a time. */
  list(prefix: string): AsyncIterable<ListedObject>;
}

/** A file as it was measured. */
export interface MeasuredFile {
  sha256: string;
  size: number;
}

export interface UploadHeaders extends MeasuredFile {
  contentType: string;
  cacheControl: string;
  /** Bytes of the file that the store has, those of an earlier try included. */
  onProgress?: (done: number) => void;
}

/** Where artifacts lie. A key is given to bytes once. */
export interface ArtifactPlace {
  /** Such as s3://bucket/prefix or dir:folder: for messages. */
  place: string;
  /** Whether a key is free, has these bytes, or has others. */
  look(key: string, file: MeasuredFile): Promise<"absent" | "same" | "other">;
  /**
   * Puts a file where nothing is yet. It appears whole or not at all; bytes an earlier try left are gone on from.
   * @returns "present" where the same bytes were there already
   * @throws RelcatError object-taken where other bytes are, file-changed, and what the other methods throw
   */
  uploadFile(key: string, path: string, file: UploadHeaders): Promise<"uploaded" | "present">;
}

/** A bucket that takes large files too. */
export interface ArtifactStore extends ObjectStore, ArtifactPlace {}
