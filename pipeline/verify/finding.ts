/** Something of a site that is not as it was signed. */
export interface Finding {
  path: string;
  /** What is wrong, as the rest of a sentence that begins with the path. */
  what: string;
  /** SHA-256 of the bytes that came instead of the signed ones: an earlier build may have had them. */
  instead?: string;
  /** It is what was signed at another time: a cache that lags behind, no tampering. */
  stale?: true;
  /** It is what was signed, and what was signed should not have been published. */
  refused?: true;
}

/** SHA-256 and size of files, by path. */
export type Listed = Readonly<Record<string, { sha256: string; size: number }>>;
