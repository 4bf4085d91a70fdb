import { calendarTime } from "../../shared/version.ts";
import type { Host } from "./host.ts";
import { UsageError } from "./usage.ts";

/** Line breaks, control characters and bidirectional marks would mislead readers of the reason. */
const misleading = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** Value of an option that allows an exception. @throws UsageError */
export const asReason = (text: string): string =>
  reasonOf(text, "Say in one line why: relcat history shows it.");

/** Value of --reason. @param hint purpose of the reason @throws UsageError */
export function reasonOf(text: string, hint: string): string {
  const reason = text.trim();
  const [found] = misleading.exec(reason) ?? [];
  if (reason !== "" && found === undefined) return reason;
  const isLineBreak = found === undefined || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(found);
  const code = found?.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
  throw new UsageError(
    isLineBreak ? "the reason is empty or has line breaks" : `the reason has U+${code}, which is invisible`,
    hint,
  );
}

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Signing time; any time is allowed, because expiry is counted from it. @param now the value of --now */
export function timeOf(now: string | undefined, host: Host): number {
  if (now === undefined) return host.clock;
  const time = moment.test(now) ? calendarTime(now) : undefined;
  if (time !== undefined) return time;
  throw new UsageError(
    `--now is ${JSON.stringify(now)}, expected a time in UTC`,
    "For example: 2026-09-14T08:00:00Z",
  );
}
