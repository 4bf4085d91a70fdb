/** A difference between a site and its signed state. */
export interface Finding {
  path: string;
  /** Sentence continuation after the path. */
  what: string;
  /** SHA-256 of the bytes that arrived, to look for them in earlier builds. */
  instead?: string;
  /** The bytes of another signed build: an outdated cache rather than tampering. */
  stale?: true;
  /** A signature or index of a package repository that was valid and has expired. */
  ended?: true;
  /** The bytes are what was signed, but the web server sends them with wrong headers. */
  served?: true;
  /** Correctly signed, but violates a policy. */
  refused?: true;
}

/** SHA-256 and size of files, by path. */
export type Listed = Readonly<Record<string, { sha256: string; size: number }>>;
