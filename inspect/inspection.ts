import type { ByteSource, Uncovered } from "./bytes/byte-source.ts";
import type { Keys } from "./keys.ts";
import { Fault, type Verdict } from "./verdict.ts";

/** Signer in the form in which the catalog publishes it. */
export interface Signature {
  signer: string;
  display: string;
  fingerprint: string;
}

export interface FileSignature {
  name: string;
  /** Null: the file is not signed. It is shown here and omitted from the catalog. */
  signature:
    | { signer?: string; fingerprint: string }
    | { signer?: string; fingerprint_per_arch: Readonly<Record<string, string>> }
    | null;
  verdict: Verdict;
}

/** Hash that the product's self-check expects, found inside the package. */
export type CryptolibPost =
  | { expected_hash: string }
  | { expected_hash_per_arch: Readonly<Record<string, string>> };

export type Fact = string | number | boolean | null | readonly Fact[] | { readonly [name: string]: Fact };

export interface Inspection {
  /** Format name such as rpm, msi or qcow2; not a package type of the catalog. */
  type: string;
  verdict: Verdict;
  /** One sentence; empty if the verdict is `ok`. */
  reason: string;
  key_id: string | null;
  signature: Signature | null;
  file_signatures: readonly FileSignature[];
  cryptolib_post: CryptolibPost | null;
  /** Claims of the package: name, version, virtual size, digests of its content. */
  facts: Readonly<Record<string, Fact>>;
  /** Remarks for people, one sentence each. */
  notes: readonly string[];
  uncovered: readonly Uncovered[];
}

export interface InspectOptions {
  keys: Keys;
  /** Time at which certificates without a timestamp must be valid, in milliseconds since 1970. */
  now: number;
  /** Path, inside the package, of the file with the self-check hash. Undefined: search every regular file. */
  selfCheck?: string | undefined;
  /** Limit on decompressed size, in bytes; larger content is rejected as a bomb. */
  limit: number;
  /** Opens a file of the same folder, for formats that keep the signature in a separate file. Undefined: no such file. */
  openSibling?: ((name: string) => ByteSource | undefined) | undefined;
}

/** Bad bytes give a verdict, never an exception; errors of the source (unreadable, changed during reading) are thrown. */
export type Reader = (source: ByteSource, options: InspectOptions) => Promise<Inspection>;

const empty = {
  key_id: null,
  signature: null,
  file_signatures: [],
  cryptolib_post: null,
  facts: {},
  notes: [],
  uncovered: [],
};

export type Found = Partial<Omit<Inspection, "type" | "verdict">>;

export const inspection = (type: string, verdict: Verdict, known: Found = {}): Inspection => ({
  type,
  verdict,
  reason: "",
  ...empty,
  ...known,
});

/** Runs a reader's steps. A fault becomes the verdict, and everything that they found before it is kept. */
export async function settled(
  type: string,
  found: Found,
  steps: () => Promise<void> | void,
): Promise<Inspection> {
  try {
    await steps();
    return inspection(type, "ok", found);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return inspection(type, error.verdict, { ...found, reason: error.message });
  }
}

/** Worst first: parts with different verdicts get the first of these that occurs. */
const severities: readonly Verdict[] = [
  "malformed",
  "refuse",
  "bad-digest",
  "bad-signature",
  "payload-not-covered",
  "weak-digest",
  "untrusted-key",
  "revoked-key",
  "expired-certificate",
  "unsupported-format",
  "unsigned",
  "adhoc",
  "ok",
];

type Judged = Pick<Inspection, "verdict" | "reason">;

const okVerdict: Judged = { verdict: "ok", reason: "" };

/** Ties go to the first part. */
export function worstOf(parts: readonly Judged[]): Judged {
  const severity = ({ verdict }: Judged) => severities.indexOf(verdict);
  return parts.reduce((worst, part) => (severity(part) < severity(worst) ? part : worst), okVerdict);
}

const broken: readonly Verdict[] = ["malformed", "bad-signature", "bad-digest"];

/** Whether the signature makes the content worthless. Policies can accept some of the other verdicts, so it is read. */
export const isBroken = ({ verdict }: Judged): boolean => broken.includes(verdict);

/** @throws Fault the worst of them, unless all are ok */
export function refuseWorst(...parts: readonly Judged[]): void {
  const { verdict, reason } = worstOf(parts);
  if (verdict !== "ok") throw new Fault(verdict, reason);
}
