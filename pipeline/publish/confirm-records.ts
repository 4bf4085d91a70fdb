import { z } from "zod";
import type { Ledger } from "../ledger/ledger.ts";
import { contentOf } from "../records/record-content.ts";

/** The list of records, as far as the ledger knows them. */
export const listSchema = z.array(
  z.looseObject({ id: z.int(), version: z.string(), created_date: z.string(), modified_date: z.string() }),
);
export type ListedRecord = z.infer<typeof listSchema>[number];

/** What the ledger ever said about a record. */
interface Known {
  version: string;
  isImported: boolean;
  contents: Set<string>;
  dates: Set<string>;
}

/**
 * Holds each record of a kept build against the ledger here: its id, content and dates must be in it. An earlier
 * content counts too, for an earlier build has it.
 * @returns the records that the ledger does not confirm, in the list's order
 */
export function unconfirmedRecords(list: readonly ListedRecord[], ledger: Ledger): ListedRecord[] {
  const known = knownRecords(new Set(list.map(({ id }) => id)), ledger);
  return list.filter((record) => {
    const entry = known.get(record.id);
    if (entry?.version !== record.version || !entry.contents.has(contentOf({ ...record }))) return true;
    const isDated = entry.dates.has(record.created_date) && entry.dates.has(record.modified_date);
    return !isDated && !entry.isImported;
  });
}

function knownRecords(ids: ReadonlySet<number>, ledger: Ledger): Map<number, Known> {
  const known = new Map<number, Known>();
  for (const event of ledger.events) {
    if (event.event === "reserve" || !ids.has(event.id)) continue;
    if (event.event === "add") {
      const { id, version, imported = false } = event;
      known.set(id, { version, isImported: imported, contents: new Set(), dates: new Set() });
    }
    const entry = known.get(event.id);
    entry?.dates.add(event.at);
    if (event.event === "add" || event.event === "revise") entry?.contents.add(event.content);
  }
  return known;
}
