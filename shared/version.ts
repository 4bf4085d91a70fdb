/**
 * The form of a version: YY.MM.NNN, a two-digit year, a month from 01 to 12 and a number within the month. A
 * line is its YY.MM. All parts are padded, so text order is version order. No imports: the command line reads
 * this before zod.
 */
const line = String.raw`\d{2}\.(0[1-9]|1[0-2])`;
const version = String.raw`${line}\.\d{3}`;
const whole = (source: string) => new RegExp(`^${source}$`);

export const linePattern = whole(line);
export const versionPattern = whole(version);
/** A line or a version. */
export const boundPattern = whole(String.raw`${line}(\.\d{3})?`);
/** Two versions, the first and the last of a range. */
export const rangePattern = whole(String.raw`${version}\.\.${version}`);

export const isLine = (text: string): boolean => linePattern.test(text);
export const isVersion = (text: string): boolean => versionPattern.test(text);

export const versionsWithin = (text: string): string[] =>
  text.match(new RegExp(String.raw`(?<!\d)${version}(?!\d)`, "g")) ?? [];

/** The version that follows a prefix of a path, as a folder. */
export const versionAfter = (prefix: string, path: string): string | undefined =>
  new RegExp(`^${prefix}(${version})/`).exec(path)?.[1];

export const lineOf = (version: string): string => version.slice(0, 5);

/**
 * Milliseconds since 1970. @param text in ISO 8601, with seconds
 * @returns undefined if the calendar lacks it: Date.parse reads February 30 as March 2
 */
export function calendarTime(text: string): number | undefined {
  const time = Date.parse(text);
  const isThere = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, 19));
  return isThere ? time : undefined;
}

/** The line of a date or time in ISO 8601. */
export const lineOn = (date: string): string => date.slice(2, 7).replace("-", ".");

/** The first day of the line of a version, or of a line: YYYY-MM-DD. */
export const firstDayOf = (version: string): string => `20${lineOf(version).replace(".", "-")}-01`;

/** @param versions of any line @returns undefined if the line is full: numbers end at 999 */
export function nextVersion(line: string, versions: readonly string[]): string | undefined {
  const numbers = versions.flatMap((each) => (lineOf(each) === line ? [Number(each.slice(6))] : []));
  const next = Math.max(0, ...numbers) + 1;
  return next > 999 ? undefined : `${line}.${String(next).padStart(3, "0")}`;
}

/** A version in the spelling of Semantic Versioning, from `semverOf`. */
export const semverPattern = /^(0|[1-9]\d?)\.([1-9]|1[0-2])\.(0|[1-9]\d{0,2})$/;

/** The same three numbers without leading zeros, which Semantic Versioning forbids: 26.8.2. */
export const semverOf = (version: string): string => version.split(".").map(Number).join(".");
