/** A time for people: `text` without a script, `ago` with one, `exact` on hover; `datetime` is for programs. */
export interface Moment {
  datetime: string;
  text: string;
  exact: string;
  ago: string;
}

/** @param now milliseconds, for the relative time */
export function momentOf(iso: string, now: number): Moment;
export function momentOf(iso: string | null, now: number): Moment | null;
export function momentOf(iso: string | null, now: number): Moment | null {
  if (iso === null) return null;
  return { datetime: iso, text: minuteOf(iso), exact: `${partOf(iso, 19)} UTC`, ago: agoOf(iso, now) };
}

const partOf = (iso: string, length: number): string => iso.slice(0, length).replace("T", " ");

const minuteOf = (iso: string): string => `${partOf(iso, 16)} UTC`;

const steps = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** Duration in its largest unit. */
function lengthOf(milliseconds: number): string {
  const [unit, length] = steps.find(([, step]) => milliseconds >= step) ?? steps[2];
  const count = Math.max(0, Math.floor(milliseconds / length));
  return count === 0 ? "a moment" : counted(count, unit);
}

function agoOf(iso: string, now: number): string {
  const passed = now - Date.parse(iso);
  return passed < 0 ? `in ${lengthOf(-passed)}` : `${lengthOf(passed)} ago`;
}

export const numberOf = (count: number): string => count.toLocaleString("en");

export const counted = (count: number, thing: string): string =>
  `${numberOf(count)} ${count === 1 ? thing : `${thing}s`}`;
