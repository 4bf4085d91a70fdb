import { date, timestamp } from "../../documents/fields.ts";
import { outOfOrder } from "../../records/verbatim.ts";
import type { LiveRecord } from "./read-records.ts";

/** A record's dates as the ledger can hold them: well-formed, modified never before created. */
export interface LedgerDates {
  created: string;
  modified: string;
}

const wellFormed = (value: unknown): string | undefined => timestamp.safeParse(value).data;

/**
 * The dates a record's ledger lines get. Where the record's own are malformed or out of order, they are the nearest
 * that can be read out of them; the record keeps its own in `verbatim`.
 */
export function ledgerDates({ created_date, modified_date, version }: LiveRecord): LedgerDates {
  const created = wellFormed(created_date);
  const modified = wellFormed(modified_date);
  const roughly = {
    created: created ?? readDate(created_date),
    modified: modified ?? readDate(modified_date),
  };
  if (created === undefined) {
    const first = earlier(roughly.created, roughly.modified) ?? `${firstDay(version)}T00:00:00.000000Z`;
    return { created: first, modified: roughly.modified ?? first };
  }
  const later = roughly.modified !== undefined && roughly.modified > created;
  return { created, modified: later ? (roughly.modified ?? created) : created };
}

/** Which dates only `verbatim` can keep. */
export function verbatimDates({
  created_date,
  modified_date,
}: LiveRecord): ("created_date" | "modified_date")[] {
  if (outOfOrder(created_date, modified_date)) return ["created_date", "modified_date"];
  return [
    ...(wellFormed(created_date) === undefined ? (["created_date"] as const) : []),
    ...(wellFormed(modified_date) === undefined ? (["modified_date"] as const) : []),
  ];
}

const earlier = (a: string | undefined, b: string | undefined) =>
  a === undefined || b === undefined ? (a ?? b) : a < b ? a : b;

/** A date that is written in another way, in UTC; without a zone it is taken for UTC. */
function readDate(value: unknown): string | undefined {
  const match =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,6})\d*)?)?\s*(Z|[+-]\d{2}:?\d{2})?$/.exec(
      String(value),
    );
  const [, day = "", time = "00:00:00", fraction = "", zone = "Z"] = match ?? [];
  const moment = Date.parse(`${day}T${time}${zone}`);
  if (Number.isNaN(moment)) return undefined;
  return wellFormed(`${new Date(moment).toISOString().slice(0, 19)}.${fraction.padEnd(6, "0")}Z`);
}

/** A release's date: the day of its oldest record, of those whose date can be read. */
export function releaseDate(version: string, records: readonly LiveRecord[]): string {
  const moments = records.flatMap(
    ({ created_date }) => wellFormed(created_date) ?? readDate(created_date) ?? [],
  );
  const days = moments.map((moment) => moment.slice(0, 10)).sort();
  return days.find((day) => date.safeParse(day).success) ?? firstDay(version);
}

const firstDay = (version: string) => `20${version.slice(0, 5).replace(".", "-")}-01`;
