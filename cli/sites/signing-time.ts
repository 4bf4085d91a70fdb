import type { Host } from "../terminal/host.ts";
import { UsageError } from "../terminal/usage.ts";

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Signing time; any time is allowed, because expiry is counted from it. @param now the value of --now */
export function timeOf(now: string | undefined, host: Host): number {
  if (now === undefined) return host.clock;
  const time = moment.test(now) ? Date.parse(now) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new UsageError(
    `--now is ${JSON.stringify(now)}, expected a time in UTC`,
    "For example: 2026-09-14T08:00:00Z",
  );
}
