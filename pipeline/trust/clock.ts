import { failure } from "../../shared/errors.ts";
import { clockTolerance, dateOf, day } from "./roles.ts";

/** A date that is not older shows that the clock is right: a site in use has one. */
const recent = 30 * day;
/** Maximum time between the newest date of a signed site and now, in days. */
const maxDaysAhead = 90;

/** Dates from other clocks, in milliseconds since 1970. None is proof: each of these clocks may have been wrong. */
export interface KnownDates {
  /** Signing date of the newest timestamp, and of one that was signed on an earlier day. */
  timestamp?: number | undefined;
  before?: number | undefined;
  commit?: number | undefined;
  ledger?: number | undefined;
}

const names: Readonly<Record<keyof KnownDates, string>> = {
  timestamp: "the newest timestamp.json",
  before: "the one before it",
  commit: "the last commit",
  ledger: "the newest line of the ledger",
};

const setIt = "Nothing was changed. Set the clock of this machine.";

/**
 * @param offset milliseconds by which the storage's clock is ahead; undefined: unknown, so `known` counts
 * @throws RelcatError clock
 */
export function requireClock(now: number, offset: number | undefined, known: KnownDates): void {
  const ours = `the clock gives ${dateOf(now)}`;
  if (offset === undefined) {
    const fault = faultOf(now, known);
    if (fault === undefined) return;
    const steps = `relcat build --released --site SITE, then relcat sign --site SITE --now ${dateOf(now)}, then relcat publish SITE`;
    const hint = `${setIt} If it is right: ${steps}`;
    throw failure("clock", `${ours}, which is ${fault}`, hint);
  }
  if (Math.abs(offset) <= clockTolerance) return;
  const theirs = `that of the storage ${dateOf(now + offset)}`;
  throw failure("clock", `${ours}, and ${theirs}, expected at most 5 minutes between them`, setIt);
}

function faultOf(now: number, known: KnownDates): string | undefined {
  const dates = Object.entries(known).flatMap(([key, time]: [string, number | undefined]) =>
    time === undefined ? [] : [{ time, text: `${names[key as keyof KnownDates]} (${dateOf(time)})` }],
  );
  const later = dates.filter(({ time }) => time > now + clockTolerance);
  const newest = Math.max(...dates.map(({ time }) => time));
  // A clock that was ahead once left dates of one day. One that is behind by a lifetime of signatures finds dates of
  // several days, because a site in use is signed again within half of it.
  const wereAheadOnce =
    dates.some((date) => !later.includes(date) && date.time > now - recent) &&
    later.every(({ time }) => time >= newest - day);
  if (later.length > 0 && !wereAheadOnce)
    return `before the date of ${later.map(({ text }) => text).join(", ")}`;
  if (known.timestamp === undefined || now - newest <= maxDaysAhead * day) return undefined;
  const last = dates.find(({ time }) => time === newest)?.text;
  return `more than ${maxDaysAhead} days after the newest known date, that of ${last}`;
}
