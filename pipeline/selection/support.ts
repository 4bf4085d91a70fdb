import type { SupportLines } from "../documents/config.ts";

/** The last day of security updates and of all support: a date, or "tba". */
interface Support {
  securityUntil: string;
  until: string;
}

/** The support of a release line; undefined: the configuration says nothing about it. */
export function supportOf(line: string, lines: SupportLines): Support | undefined {
  const [usual, own] = [lines.default, lines[line]];
  if (!usual && !own) return undefined;
  const { security_until, until } = { ...usual, ...own };
  return { securityUntil: dateOf(security_until, line), until: dateOf(until, line) };
}

/** A period counts from the month of the line, and ends with a month, so that no page depends on other releases. */
function dateOf(stated = "tba", line: string): string {
  const [, count, unit] = /^(\d+) (month|year)s?$/.exec(stated) ?? [];
  if (count === undefined) return stated;
  const [year = 0, month = 0] = line.split(".").map(Number);
  const months = month + Number(count) * (unit === "year" ? 12 : 1);
  // Day 0 is the last day of the month before.
  return new Date(Date.UTC(2000 + year, months, 0)).toISOString().slice(0, 10);
}
