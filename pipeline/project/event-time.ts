import { failure } from "../../shared/errors.ts";
import { calendarTime } from "../../shared/version.ts";

const day = 86_400_000;

/**
 * @param clock milliseconds since 1970
 * @param newest the ledger's newest date, "" if there is none
 * @returns a time with microseconds
 * @throws RelcatError clock, naming the variable
 */
export function eventTime(
  clock: number,
  explicit: { name: string; value: string } | undefined,
  newest: string,
): string {
  const at = explicit
    ? explicitTime(explicit, newest)
    : laterThan(`${new Date(clock).toISOString().slice(0, -1)}000Z`, newest);
  const source = explicit?.name ?? "the clock";
  if (at < "2015") {
    const hint = explicit
      ? `Build environments preset 1980: unset ${source}, or set the time.`
      : "Set the clock right.";
    throw failure("clock", `${source} gives ${at}, expected a time after 2015`, hint);
  }
  // A line that a clock dated ahead of time must not keep the next one back.
  if (!explicit || Date.parse(at) <= clock + day) return at;
  const message = `${source} gives ${at}, more than 24 hours ahead of the clock`;
  throw failure("clock", message, "Set the clock right, or give another time.");
}

/** @returns milliseconds since 1970 @throws RelcatError clock, naming its source */
export const timeGiven = (explicit: { name: string; value: string }): number =>
  Date.parse(`${parsed(explicit).slice(0, 23)}Z`);

function parsed({ name, value }: { name: string; value: string }): string {
  const at = /^\d+$/.test(value) ? fromEpoch(Number(value)) : fromText(value);
  if (at !== undefined) return at;
  const message = `${name} is ${JSON.stringify(value)}, expected seconds since 1970 or a time such as 2026-08-19T10:22:31Z`;
  throw failure("clock", message);
}

function explicitTime(explicit: { name: string; value: string }, newest: string): string {
  const { name } = explicit;
  const at = parsed(explicit);
  if (at < newest && at > "2015") {
    const message = `${name} gives ${at}, before the ledger's newest date ${newest}`;
    const verb = name.startsWith("--") ? "Leave out" : "Unset";
    throw failure("clock", message, `${verb} ${name}, or give a later time.`);
  }
  return at;
}

function fromEpoch(seconds: number): string | undefined {
  const milliseconds = seconds * 1000;
  // A year after 9999 means that the value was probably in milliseconds.
  return milliseconds < 253_402_300_800_000
    ? `${new Date(milliseconds).toISOString().slice(0, 19)}.000000Z`
    : undefined;
}

function fromText(value: string): string | undefined {
  const [, whole = "", fraction = ""] =
    /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,6}))?Z$/.exec(value) ?? [];
  return calendarTime(`${whole}Z`) === undefined ? undefined : `${whole}.${fraction.padEnd(6, "0")}Z`;
}

/** Ensures ascending dates even if the clock is behind: one microsecond after the newest. */
export function laterThan(at: string, newest: string): string {
  if (at > newest) return at;
  const micros = BigInt(Date.parse(`${newest.slice(0, 23)}Z`)) * 1000n + BigInt(newest.slice(23, 26)) + 1n;
  const text = new Date(Number(micros / 1000n)).toISOString().slice(0, -1);
  return `${text}${String(micros % 1000n).padStart(3, "0")}Z`;
}
