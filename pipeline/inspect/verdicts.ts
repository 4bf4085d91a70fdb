import { Fault, type Inspection, type Verdict } from "./inspection.ts";

/** What is said of something of which one part is one thing and one another: the first of these. */
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

/** The worst of these; of equal ones the first. */
export function worstOf(parts: readonly Judged[]): Judged {
  const severity = ({ verdict }: Judged) => severities.indexOf(verdict);
  return parts.reduce((worst, part) => (severity(part) < severity(worst) ? part : worst), well);
}

/** @throws Fault the worst of them, unless all is well */
export function refuseWorst(...parts: readonly Judged[]): Verdict {
  const { verdict, reason } = worstOf(parts);
  if (verdict !== "ok") throw new Fault(verdict, reason);
  return verdict;
}
