import type { RecordEvent } from "../documents/published.ts";
import type { Package } from "./assign-ids.ts";
import type { Ledger } from "./ledger.ts";
import type { Change } from "./ledger-records.ts";

const kinds = { revise: "revised", retract: "withdrawn", reinstate: "reinstated" } as const;

/**
 * Events of a public record, oldest first: when it was added, and each later change. Changes from the time in
 * which a record was private are left out, because their reasons were not written for the public.
 */
export function recordHistory(
  { id, created }: Pick<Package, "id" | "created">,
  ledger: Ledger,
): RecordEvent[] {
  const history: RecordEvent[] = [{ kind: "added", at: created, reason: "" }];
  let isHidden = ledger.byId.get(id)?.add.private ?? false;
  for (const change of ledger.changesOf(id)) {
    if (change.event === "revise") isHidden = change.private ?? false;
    if (!isHidden) history.push(eventOf(change));
  }
  return history;
}

const eventOf = (change: Change): RecordEvent => ({
  kind: kinds[change.event],
  at: change.at,
  reason: change.event === "retract" ? change.reason : "",
});
