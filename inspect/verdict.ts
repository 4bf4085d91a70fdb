/**
 * If a signature is required, only `ok` may be shipped. `refuse` means well-formed but unsafe: an external
 * backing file, or a decompression bomb.
 */
export const verdicts = [
  "ok",
  "unsigned",
  "untrusted-key",
  "revoked-key",
  "expired-certificate",
  "weak-digest",
  "bad-signature",
  "bad-digest",
  "payload-not-covered",
  "malformed",
  "refuse",
  "adhoc",
  "unsupported-format",
] as const;
export type Verdict = (typeof verdicts)[number];

/** Thrown inside a reader of a format; `settled` turns it into the verdict. */
export class Fault extends Error {
  readonly verdict: Verdict;

  constructor(verdict: Verdict, reason: string) {
    super(reason);
    this.verdict = verdict;
  }
}

export const malformed = (reason: string) => new Fault("malformed", reason);
export const refused = (reason: string) => new Fault("refuse", reason);
export const unsupported = (reason: string) => new Fault("unsupported-format", reason);
export const badDigest = (reason: string) => new Fault("bad-digest", reason);
