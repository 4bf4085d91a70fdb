import type { Inspection } from "./inspection.ts";
import { Fault, type Verdict } from "./verdict.ts";

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

const well: Judged = { verdict: "ok", reason: "" };

/** Ties go to the first part. */
export function worstOf(parts: readonly Judged[]): Judged {
  const severity = ({ verdict }: Judged) => severities.indexOf(verdict);
  return parts.reduce((worst, part) => (severity(part) < severity(worst) ? part : worst), well);
}

const broken: readonly Verdict[] = ["malformed", "bad-signature", "bad-digest"];

/** Whether the signature makes the content worthless. Policies can accept some of the other verdicts, so it is read. */
export const isBroken = ({ verdict }: Judged): boolean => broken.includes(verdict);

/** @throws Fault the worst of them, unless all are ok */
export function refuseWorst(...parts: readonly Judged[]): Verdict {
  const { verdict, reason } = worstOf(parts);
  if (verdict !== "ok") throw new Fault(verdict, reason);
  return verdict;
}
