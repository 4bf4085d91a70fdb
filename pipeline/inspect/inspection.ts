import type { ByteSource } from "../system/byte-source.ts";
import type { Keys } from "./keys.ts";

/**
 * What inspection says of an artifact. Only `ok` may be shipped where a signature is asked for; `refuse` is well-formed,
 * and must not be shipped all the same: a backing file elsewhere, or a bomb.
 */
export type Verdict =
  | "ok"
  | "unsigned"
  | "untrusted-key"
  | "revoked-key"
  | "expired-certificate"
  | "weak-digest"
  | "bad-signature"
  | "bad-digest"
  | "payload-not-covered"
  | "malformed"
  | "refuse"
  | "adhoc"
  | "unsupported-format";

/** Who signed, as the catalog tells it (source of the fields: section 2.3 of the specification). */
export interface Signature {
  signer: string;
  display: string;
  fingerprint: string;
}

/** Of a file inside the package. */
export interface FileSignature {
  name: string;
  /** Null: the file is not signed. Such a file is told here and left out of the catalog. */
  signature:
    | { signer?: string; fingerprint: string }
    | { signer?: string; fingerprint_per_arch: Readonly<Record<string, string>> }
    | null;
  verdict: Verdict;
}

/** The hash that the product's self-check expects, found inside the package. */
export type CryptolibPost =
  | { expected_hash: string }
  | { expected_hash_per_arch: Readonly<Record<string, string>> };

/** Bytes that a format leaves unsigned: a change there goes unnoticed by its signature. */
export interface Uncovered {
  /** Offset of the first byte, and of the first one after. */
  from: number;
  to: number;
  why: string;
}

export type Fact = string | number | boolean | null | readonly Fact[] | { readonly [name: string]: Fact };

export interface Inspection {
  /** The format, such as rpm, msi or qcow2; not a package type of the catalog. */
  type: string;
  verdict: Verdict;
  /** Why it is not ok, in one sentence; empty when it is. */
  reason: string;
  key_id: string | null;
  signature: Signature | null;
  file_signatures: readonly FileSignature[];
  cryptolib_post: CryptolibPost | null;
  /** What the package says of itself: name, version, virtual size, digests of what is inside. */
  facts: Readonly<Record<string, Fact>>;
  /** What a person should know, a sentence each. */
  notes: readonly string[];
  uncovered: readonly Uncovered[];
}

export interface InspectOptions {
  keys: Keys;
  /** When certificates must be valid that no timestamp dates, in milliseconds since 1970. */
  now: number;
  /** Where the self-check hash stands: a path inside the package; undefined: every regular file is looked through. */
  selfCheck?: string | undefined;
  /** Bytes that what is compressed may become; more is refused as a bomb. */
  limit: number;
  /** The file of that name in the same folder, where a signature and what it signs are two files; undefined: none. */
  beside?: ((name: string) => ByteSource | undefined) | undefined;
}

/**
 * Reads one format. Never throws for what the bytes say: that is a verdict. What the source throws (a file that cannot be
 * read, or changed meanwhile) goes through.
 */
export type Reader = (source: ByteSource, options: InspectOptions) => Promise<Inspection>;

/** What a reader throws inside, and turns into its verdict with `settled`. */
export class Fault extends Error {
  readonly verdict: Verdict;

  constructor(verdict: Verdict, reason: string) {
    super(reason);
    this.verdict = verdict;
  }
}

export const malformed = (reason: string) => new Fault("malformed", reason);

const empty = {
  key_id: null,
  signature: null,
  file_signatures: [],
  cryptolib_post: null,
  facts: {},
  notes: [],
  uncovered: [],
};

/** What a reader knows so far. */
export type Found = Partial<Omit<Inspection, "type" | "verdict">>;

/** An inspection with what is known so far. */
export const inspection = (type: string, verdict: Verdict, known: Found = {}): Inspection => ({
  type,
  verdict,
  reason: "",
  ...empty,
  ...known,
});

/**
 * Runs a reader's steps; a fault becomes the verdict, and keeps what was found before it.
 * @param found filled by the steps as they go on
 */
export async function settled(
  type: string,
  found: Found,
  steps: () => Promise<Verdict> | Verdict,
): Promise<Inspection> {
  try {
    return inspection(type, await steps(), found);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return inspection(type, error.verdict, { ...found, reason: error.message });
  }
}
