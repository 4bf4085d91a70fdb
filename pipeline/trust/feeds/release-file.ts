import { day } from "../roles.ts";

/** A Release file of apt with the dates that limit how long an index is accepted. */
export interface DatedRelease {
  /** Without the dates, as the build made it. */
  body: string;
  /** Milliseconds since 1970. */
  date: number;
  validUntil: number;
}

/** Adds the dates before the checksums. @param date milliseconds since 1970 */
export const datedRelease = (body: string, date: number, validDays: number): string =>
  body.replace(
    /^SHA256:/m,
    `Date: ${dateText(date)}\nValid-Until: ${dateText(date + validDays * day)}\nSHA256:`,
  );

/** @returns undefined if it has no dates where `datedRelease` writes them */
export function readDatedRelease(text: string): DatedRelease | undefined {
  const found = /^Date: (.+)\nValid-Until: (.+)\n(?=SHA256:)/m.exec(text);
  if (!found) return undefined;
  const [lines, date = "", end = ""] = found;
  const [time, validUntil] = [Date.parse(date), Date.parse(end)];
  if (Number.isNaN(time) || Number.isNaN(validUntil)) return undefined;
  return { body: text.replace(lines, ""), date: time, validUntil };
}

/** The date format of Debian's Release files, such as `Mon, 14 Sep 2026 08:00:00 UTC`. */
const dateText = (time: number): string => new Date(time).toUTCString().replace("GMT", "UTC");
