import { InvalidArgumentError } from "@commander-js/extra-typings";

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

/** Size of a sample; 0 would check nothing. */
export function asSampleSize(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("Give a whole number, 1 or more.");
}
