import fc from "fast-check";

type Path = (string | number)[];

/** Every path in a value, first the value itself. */
function places(value: unknown, path: Path = []): Path[] {
  if (value === null || typeof value !== "object") return [path];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [
    path,
    ...keys.flatMap((key) => places((value as Record<string | number, unknown>)[key], [...path, key])),
  ];
}

/** Wrong values: other types, limits of numbers, and texts that nearly match a pattern. */
const intruders: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  "",
  " ",
  "a",
  "A/b",
  "..",
  "x".repeat(256),
  "\u0000",
  "tab\there",
  "é",
  "📦",
  "26.08.002",
  "26.13.001",
  "26.08",
  "2026-02-29",
  "2026-02-28",
  "2026-08-19T10:22:31.123456Z",
  "2026-08-19T24:00:00.000000Z",
  "https://example.com/a",
  "https://user@example.com/",
  "ftp://example.com/",
  "f".repeat(64),
  "F".repeat(64),
  "0".repeat(40),
  "0".repeat(32),
  "e".repeat(32),
  "/nix/store/x",
  [],
  {},
  [[]],
  { unknown: 1 },
];

function change(
  root: unknown,
  path: Path,
  edit: (parent: Record<string | number, unknown>, key: string | number) => void,
): unknown {
  const copy = { root: structuredClone(root) };
  let parent = copy as Record<string | number, unknown>;
  let key: string | number = "root";
  for (const step of path) {
    parent = parent[key] as Record<string | number, unknown>;
    key = step;
  }
  edit(parent, key);
  return copy.root;
}

/** A valid document with one to three values replaced, removed or added. */
export function mutated(documents: readonly unknown[]): fc.Arbitrary<unknown> {
  const step = fc.record({
    kind: fc.constantFrom("replace", "remove", "add"),
    at: fc.nat(),
    intruder: fc.nat(),
  });
  return fc
    .tuple(fc.constantFrom(...documents), fc.array(step, { minLength: 1, maxLength: 3 }))
    .map(([document, steps]) =>
      steps.reduce((value: unknown, { kind, at, intruder }) => {
        const all = places(value);
        const path = all[at % all.length] ?? [];
        const foreign = structuredClone(intruders[intruder % intruders.length]);
        return change(value, path, (parent, key) => {
          const target = parent[key];
          if (kind === "remove" && path.length > 0) {
            if (Array.isArray(parent)) parent.splice(Number(key), 1);
            else delete parent[key];
          } else if (kind === "add" && target !== null && typeof target === "object") {
            if (Array.isArray(target)) target.push(foreign);
            else (target as Record<string, unknown>).intruder = foreign;
          } else parent[key] = foreign;
        });
      }, document),
    );
}
