import { failure } from "../../shared/errors.ts";
import type { LedgerEvent } from "../documents/ledger.ts";
import { requireFolder } from "../system/files.ts";
import { showFile } from "../system/git/git-revision.ts";
import { withWriteLock } from "../system/lock.ts";
import type { Ledger, LedgerChange } from "./ledger.ts";
import { isChannelEvent } from "./ledger-channels.ts";
import { deliverLedger, type LedgerContext, readLedgerNow } from "./ledger-file.ts";

/** Removes the lines of the last cut. @param base git revision whose lines are settled; "none": no line is settled */
export async function uncut(
  folder: string,
  version: string,
  base: string,
  context: LedgerContext,
): Promise<LedgerChange> {
  requireFolder(folder);
  return withWriteLock(folder, context, async () => {
    const settled = base === "none" ? "" : await showFile(folder, base, "ledger.jsonl");
    const ledger = readLedgerNow(folder);
    await context.proveLedger?.(ledger);
    const change = decideUncut(ledger, version, settled, base);
    deliverLedger(folder, change, context.dryRun);
    return change;
  });
}

/**
 * @param settled text of the ledger at the settled revision; its lines stay
 * @throws RelcatError version-unknown, version-settled, version-not-last
 */
export function decideUncut(
  ledger: Ledger,
  version: string,
  settled: string,
  revision: string,
): LedgerChange {
  const entries = ledger.ofVersion(version);
  if (entries.length === 0) {
    const hint = "It is not cut; there is nothing to take back.";
    throw failure("version-unknown", `the ledger has no line of ${version}`, hint);
  }
  const first = Math.min(...entries.map((entry) => entry.line)) - 1;
  const before = ledger.text();
  const lines = before.split("\n");
  const known = new Set(settled.split("\n"));
  const later = ledger.events
    .slice(first)
    .map((event, index) => ({ event, line: lines[first + index] ?? "" }));
  const ids = new Set(entries.map((entry) => entry.add.id));
  const isOwn = (event: LedgerEvent) =>
    isChannelEvent(event) ? event.version === version : "id" in event && ids.has(event.id);
  const own = later.filter(({ event }) => isOwn(event));
  if (own.some(({ line }) => known.has(line))) {
    const hint = `Withdraw single packages instead (relcat retract ${version} --type … --reason …), or publish a new version.`;
    throw failure("version-settled", `${version} is settled: ${revision} has its lines`, hint);
  }
  // Changes of channels have no ids, so those of other releases stay.
  const others = later.filter(({ event }) => !isOwn(event));
  const other = others.find(({ event }) => !isChannelEvent(event))?.event;
  if (other) {
    const what =
      other.event === "add"
        ? other.version
        : `the ${other.event} of id ${"id" in other ? other.id : "next_id" in other && other.next_id}`;
    throw failure(
      "version-not-last",
      `${version} is not the last in the ledger: ${what} came after it`,
      "Ids are given in order and never reused; take the later lines back first.",
    );
  }
  const kept = [...lines.slice(0, first), ...others.map(({ line }) => line)];
  const after = kept.map((line) => `${line}\n`).join("");
  return { events: own.map(({ event }) => event), before, after };
}
