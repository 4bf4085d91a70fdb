/** Where signatures are required, only `ok` ships. `refuse`: well-formed but unsafe (external backing file, bomb). */
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

const faultOf = (verdict: Verdict) => (reason: string) => new Fault(verdict, reason);

export const malformed = faultOf("malformed");
export const refused = faultOf("refuse");
export const unsupported = faultOf("unsupported-format");
export const badDigest = faultOf("bad-digest");
export const badSignature = faultOf("bad-signature");
export const expired = faultOf("expired-certificate");
export const notCovered = faultOf("payload-not-covered");
export const unsigned = faultOf("unsigned");
export const untrusted = faultOf("untrusted-key");
export const weak = faultOf("weak-digest");
