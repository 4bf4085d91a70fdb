import { createHash } from "node:crypto";

/** A digest of plain data, maps and sets. Two values have the same one only if they are equal, in equal order. */
export function digestOf(...values: readonly unknown[]): string {
  const hash = createHash("sha256");
  for (const value of values) hash.update(`${JSON.stringify(value, plain)}\n`);
  return hash.digest("hex");
}

const plain = (_: string, value: unknown) =>
  value instanceof Map || value instanceof Set ? [value.constructor.name, ...value] : value;
