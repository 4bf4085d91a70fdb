import type { FieldChange } from "../documents/plan.ts";
import { leaves } from "../records/merge.ts";

type Leaf = FieldChange["from"];

/** The parts in which two values differ, down to leaves, in the order of the second value's keys. */
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

/** An empty list or object that has parts on the other side: those say it all. */
const filled = (json: string | undefined, field: string, other: ReadonlyMap<string, string>): boolean =>
  (json === "{}" || json === "[]") && other.keys().some((path) => path.startsWith(`${field}.`));

const leafOf = (key: "from" | "to", json: string | undefined): { [K in "from" | "to"]?: Leaf } =>
  json === undefined ? {} : { [key]: JSON.parse(json) as Leaf };
