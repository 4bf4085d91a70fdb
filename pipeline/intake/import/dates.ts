import { date, timestamp } from "../../../shared/fields.ts";
import { firstDayOf } from "../../../shared/version.ts";
import type { LedgerEvent } from "../../documents/ledger.ts";
import { additionOf, changeOf, dated, type PendingEvent } from "../../ledger/assign-ids.ts";
import type { Entry } from "../../ledger/ledger-records.ts";
import type { Artifact } from "../../records/normalize.ts";
import { outOfOrder } from "../../records/verbatim.ts";
import type { LiveRecord } from "./read-records.ts";

const wellFormed = (value: unknown): string | undefined => timestamp.safeParse(value).data;

/** @returns valid dates, in order; others become the nearest valid ones, and `verbatim` has the originals */
export function ledgerDates({ created_date, modified_date, version }: LiveRecord) {
  const modified = wellFormed(modified_date) ?? readDate(modified_date);
  const created =
    wellFormed(created_date) ??
    earlier(readDate(created_date), modified) ??
    `${firstDayOf(version)}T00:00:00.000000Z`;
  return { created, modified: modified !== undefined && modified > created ? modified : created };
}

/** Dates that only `verbatim` can keep. */
export function verbatimDates(record: LiveRecord): ("created_date" | "modified_date")[] {
  const members = ["created_date", "modified_date"] as const;
  if (outOfOrder(record.created_date, record.modified_date)) return [...members];
  return members.filter((member) => wellFormed(record[member]) === undefined);
}

const earlier = (a: string | undefined, b: string | undefined) =>
  a === undefined || b === undefined ? (a ?? b) : a < b ? a : b;

/** Parses other notations into UTC; without a time zone, UTC is assumed. */
function readDate(value: unknown): string | undefined {
  const match =
    typeof value === "string"
      ? /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,6})\d*)?)?\s*(Z|[+-]\d{2}:?\d{2})?$/.exec(
          value,
        )
      : null;
  const [, day = "", time = "00:00:00", fraction = "", zone = "Z"] = match ?? [];
  const moment = Date.parse(`${day}T${time}${zone}`);
  if (Number.isNaN(moment)) return undefined;
  return wellFormed(`${new Date(moment).toISOString().slice(0, 19)}.${fraction.padEnd(6, "0")}Z`);
}

/** Day of the oldest record with a readable date. */
export function releaseDate(version: string, records: readonly LiveRecord[]): string {
  const moments = records.flatMap(
    ({ created_date }) => wellFormed(created_date) ?? readDate(created_date) ?? [],
  );
  const days = moments.map((moment) => moment.slice(0, 10)).sort();
  return days.find((day) => date.safeParse(day).success) ?? firstDayOf(version);
}

/** Lines of a record: its creation if it is new, and its last change if that was later. */
export function linesOf(record: LiveRecord, artifact: Artifact, known: Entry | undefined): LedgerEvent[] {
  const { created, modified } = ledgerDates(record);
  const change = (at: string) => imported(changeOf(artifact, record.id), at);
  if (known) return [change(modified > known.modified ? modified : known.modified)];
  const add = imported(additionOf(artifact, record.id), created);
  return modified === created ? [add] : [add, change(modified)];
}

const imported = (event: PendingEvent, at: string) => dated({ ...event, imported: true }, at);
