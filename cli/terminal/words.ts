export { shellWord } from "../../pipeline/project/display.ts";

export const count = (amount: number, noun: string, plural = `${noun}s`): string =>
  `${amount} ${amount === 1 ? noun : plural}`;

/** Time until an end. @param days whole days that are left */
export const inDays = (days: number): string => (days > 0 ? `in ${count(days, "day")}` : "within a day");

/** "3 added", "1 removed": amounts above 0, each with its word. */
export const amounts = (parts: readonly (readonly [amount: number, word: string])[]): string[] =>
  parts.flatMap(([amount, word]) => (amount > 0 ? [`${amount} ${word}`] : []));

const units = ["kB", "MB", "GB", "TB"];

/** Readable size, in steps of 1000. */
export function fileSize(bytes: number): string {
  if (bytes < 1000) return count(bytes, "byte");
  let size = bytes;
  let unit = -1;
  while (size >= 999.95 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${size.toFixed(1)} ${units[unit]}`;
}

/** "a, b and c"; a long list ends with the number of omitted items. */
export function listed(items: readonly string[], limit = Number.POSITIVE_INFINITY): string {
  if (items.length > limit) return `${items.slice(0, limit).join(", ")} and ${items.length - limit} more`;
  if (items.length < 2) return items.join("");
  return `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

export const folderName = (path: string): string =>
  `${path.replace(/(?<=.)\/+$/, "")}/`.replace(/^\/\/$/, "/");

let collator: Intl.Collator | undefined;

/** Natural order: `package/2` before `package/10`. */
export function naturally(a: string, b: string): number {
  // Made when it is needed: its tables take longer to load than most commands run.
  collator ??= new Intl.Collator("en", { numeric: true });
  return collator.compare(a, b);
}
