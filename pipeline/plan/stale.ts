import { failure } from "../../shared/errors.ts";
import type { Plan } from "../documents/plan.ts";
import { digest } from "../ledger/ledger.ts";

/** True if the ledger already contains the plan's lines, so that a repeated job writes nothing. */
const isWritten = ({ ledger }: Plan, text: string): boolean => digest(text) === ledger.after;

/** @throws RelcatError plan-stale if the ledger changed since */
export function refuseOtherLedger(plan: Plan, text: string): void {
  if (digest(text) === plan.ledger.before || isWritten(plan, text)) return;
  throw stale(["the ledger has other lines"]);
}

/**
 * Refuses a plan that would be different today.
 * @param fresh a plan made now, for the same versions and date
 * @throws RelcatError plan-stale, naming the differences
 */
export function refuseStale(plan: Plan, fresh: Plan): void {
  const reasons = differences(plan.content, fresh.content);
  // Lines that are already written are not planned again.
  const isSame =
    fresh.ledger.before === plan.ledger.after ||
    (fresh.ledger.after === plan.ledger.after && JSON.stringify(fresh.lines) === JSON.stringify(plan.lines));
  if (reasons.length > 0) throw stale(reasons);
  if (!isSame) throw stale(["this version of relcat would write other ledger lines"]);
}

function differences(before: Plan["content"], after: Plan["content"]): string[] {
  const versions = [...new Set([...Object.keys(before.releases), ...Object.keys(after.releases)])].sort();
  const changed = versions.filter((version) => before.releases[version] !== after.releases[version]);
  return [
    ...(before.configuration === after.configuration ? [] : ["catalog.yaml has changed"]),
    ...(changed.length === 0
      ? []
      : [`${changed.join(", ")} ${changed.length === 1 ? "has" : "have"} other content`]),
  ];
}

const stale = (reasons: readonly string[]) =>
  failure(
    "plan-stale",
    `the plan no longer applies: ${reasons.join("; ")}`,
    "Nothing was written. Make a new plan (relcat plan --out FILE), review it, and cut that one.",
  );
