/** A time in a form for people and one for programs. */
export interface Moment {
  datetime: string;
  text: string;
}

export function momentOf(iso: string): Moment;
export function momentOf(iso: string | null): Moment | null;
export function momentOf(iso: string | null): Moment | null {
  return iso === null ? null : { datetime: iso, text: iso.slice(0, 16).replace("T", " ") };
}

const steps = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** Duration in its largest unit. */
export function lengthOf(milliseconds: number): string {
  const [unit, length] = steps.find(([, step]) => milliseconds >= step) ?? steps[2];
  const count = Math.max(0, Math.floor(milliseconds / length));
  return count === 0 ? "a moment" : counted(count, unit);
}

export const sinceOf = (iso: string | null, now: number): string | null =>
  iso === null ? null : `${lengthOf(now - Date.parse(iso))} ago`;

export const numberOf = (count: number): string => count.toLocaleString("en");

export const counted = (count: number, thing: string): string =>
  `${numberOf(count)} ${count === 1 ? thing : `${thing}s`}`;

/** A member name as people read it. */
export const labelOf = (name: string): string =>
  name.replace(/[._]/g, " ").replace(/^./, (letter) => letter.toUpperCase());
