import { InvalidArgumentError } from "@commander-js/extra-typings";

// What a word on the command line must look like. The patterns repeat those of the documents' fields, which
// are zod's: reading a command line must not cost loading it.

export function asVersion(value: string): string {
  if (/^\d{2}\.(0[1-9]|1[0-2])\.\d{3}$/.test(value)) return value;
  throw new InvalidArgumentError("Give a version such as 26.08.002.");
}

export const asVersions = (value: string, previous: string[] = []): string[] => [
  ...previous,
  asVersion(value),
];

export function asMonth(value: string): string {
  if (/^\d{2}\.(0[1-9]|1[0-2])$/.test(value)) return value;
  throw new InvalidArgumentError("Give a month such as 26.09; the sequence number is found.");
}

export function asDate(value: string): string {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN;
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(value)) return value;
  throw new InvalidArgumentError("Give a calendar date such as 2026-08-19.");
}

export function asId(value: string): number {
  if (isId(value)) return Number(value);
  throw new InvalidArgumentError("Give the id of a record, a positive whole number.");
}

export const asIds = (value: string, previous: number[] = []): number[] => [...previous, asId(value)];

export const isId = (value: string): boolean =>
  /^[1-9]\d{0,15}$/.test(value) && Number.isSafeInteger(Number(value));

export function asReplacement(value: string): number | null {
  return value === "none" ? null : asId(value);
}

export function asCount(value: string): number {
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("Give a whole number, 0 or more.");
}

/** For options that may be repeated. */
export const collected = (value: string, previous: string[] = []): string[] => [...previous, value];
