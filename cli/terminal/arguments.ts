import { InvalidArgumentError } from "@commander-js/extra-typings";
import { boundPattern, calendarTime, isLine, isVersion } from "../../shared/version.ts";

// Validation of command-line values, without the document schemas: loading zod takes too long here.

/** A value copied from a shortened line looks correct, so the message points out the ellipsis. */
export const adviceOn = (value: string, advice: string): string =>
  /…|\.{3}$/.test(value) ? `It was shortened when it was shown or copied. ${advice}` : advice;

const unfit = (value: string, advice: string) => new InvalidArgumentError(adviceOn(value, advice));

export function asVersion(value: string): string {
  if (isVersion(value)) return value;
  throw unfit(value, "Give a version such as 26.08.002.");
}

export function asNotesOf(value: string): string {
  if (value === "latest" || value === "next" || boundPattern.test(value)) return value;
  throw unfit(value, "Give a version such as 26.08.002, a month, latest or next.");
}

export const asVersions = (value: string, previous: string[] = []): string[] => [
  ...previous,
  asVersion(value),
];

export function asMonth(value: string): string {
  if (isLine(value)) return value;
  throw unfit(value, isForeignVersion(value) ? calendarVersions : monthOnly);
}

const monthOnly = "Give a month such as 26.09: versions are YY.MM.NNN, and relcat finds the number.";

/** True for 1.2.3, false for 26.09.001. */
const isForeignVersion = (value: string): boolean => /^v?\d+\.\d+\.\d+/.test(value) && !isVersion(value);

const calendarVersions =
  "Releases have calendar versions, YY.MM.NNN: relcat new opens the next one of this month, relcat new 26.09 one of that month. Your own version can stay in file names and notes.";

export function asDate(value: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(value) && calendarTime(`${value}T00:00:00Z`) !== undefined) return value;
  throw unfit(value, "Give a calendar date such as 2026-08-19.");
}

export function asId(value: string): number {
  if (isId(value)) return Number(value);
  throw unfit(value, "Give the id of a record, a positive whole number.");
}

export const asIds = (value: string, previous: number[] = []): number[] => [...previous, asId(value)];

export const isId = (value: string): boolean =>
  /^[1-9]\d{0,15}$/.test(value) && Number.isSafeInteger(Number(value));

/** "none" is a word here, because commander makes an empty text of null. */
export function asReplacement(value: string): number | "none" {
  return value === "none" ? value : asId(value);
}

export function asCount(value: string): number {
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw unfit(value, "Give a whole number, 0 or more.");
}

export const collected = (value: string, previous: string[] = []): string[] => [...previous, value];

export function asPort(value: string): number {
  if (/^\d{1,5}$/.test(value) && Number(value) < 65_536) return Number(value);
  throw unfit(value, "Give a port from 0 to 65535.");
}

export function asDays(value: string): number | "never" {
  if (value === "never") return value;
  if (/^[1-9]\d{0,3}$/.test(value)) return Number(value);
  throw unfit(value, "Give a number of days, or never.");
}

export function asSeconds(value: string): number {
  if (/^[1-9]\d{0,4}$/.test(value)) return Number(value);
  throw unfit(value, "Give a whole number of seconds, 1 or more.");
}

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a duration such as 90s, 10m or 1h. */
export function asDuration(value: string): number {
  const [, amount = "", unit = "s"] = /^(\d{1,6})([smhd])$/.exec(value) ?? [];
  if (amount !== "") return Number(amount) * units[unit as keyof typeof units];
  throw new InvalidArgumentError("Give a whole number with its unit: 90s, 10m, 1h.");
}

/** A build id, or enough of its first digits to be unique. */
export function asBuild(value: string): string {
  if (/^[0-9a-f]{12,64}$/.test(value)) return value;
  throw new InvalidArgumentError("Give the SHA-256 of its build.json, or its first 12 characters or more.");
}

/** Size of a sample or number of jobs; 0 would do nothing. */
export function asSampleSize(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("Give a whole number, 1 or more.");
}
