import { z } from "zod";
import type { Ledger } from "../ledger/ledger.ts";
import { contentOf } from "../records/record-content.ts";

/** The fields of listed records that the ledger also has. */
export const listSchema = z.array(
  z.looseObject({ id: z.int(), version: z.string(), created_date: z.string(), modified_date: z.string() }),
);
export type ListedRecord = z.infer<typeof listSchema>[number];

/** Every recorded state of a record. */
interface Known {
  version: string;
  isImported: boolean;
  contents: Set<string>;
  dates: Set<string>;
}

/**
 * Compares each record of a stored build with the local ledger: id, content and dates must match. Earlier
 * content is accepted, because the build may be old.
 * @returns the unconfirmed records, in the order of the list
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
