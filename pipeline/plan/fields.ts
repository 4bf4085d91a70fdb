import type { FieldChange } from "../documents/plan.ts";
import { leaves } from "../records/merge.ts";

type Leaf = FieldChange["from"];

/** Differing leaves of two values, in the order of the second value's keys. */
export function changedLeaves(from: unknown, to: unknown): FieldChange[] {
  const before = leaves(from);
  const after = leaves(to);
  const paths = new Set([...after.keys(), ...before.keys()]);
  return [...paths].flatMap((field) => {
    const [a, b] = [before.get(field), after.get(field)];
    if (a === b || filled(a, field, after) || filled(b, field, before)) return [];
    return [{ field, ...leafOf("from", a), ...leafOf("to", b) }];
  });
}

/** Omits an empty list or object if the other side has its parts, which are listed already. */
const filled = (json: string | undefined, field: string, other: ReadonlyMap<string, string>): boolean =>
  (json === "{}" || json === "[]") && other.keys().some((path) => path.startsWith(`${field}.`));

const leafOf = (key: "from" | "to", json: string | undefined): { [K in "from" | "to"]?: Leaf } =>
  json === undefined ? {} : { [key]: JSON.parse(json) as Leaf };
