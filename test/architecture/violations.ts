import { dirname } from "node:path/posix";
import { doors, floors, reserved } from "./floors.ts";
import type { Imports } from "./imports.ts";

export interface Violation {
  rule: string;
  file: string;
  /** The imported module, or the files of the cycle. */
  imported: string;
}

export function violations(imports: Imports): Violation[] {
  const arrows = [...imports].flatMap(([file, names]) => names.map((name) => ({ file, name })));
  const found: Violation[] = [];
  for (const file of imports.keys()) {
    if (!placeOf(file)) found.push({ rule: "every folder has a floor", file, imported: "" });
  }
  for (const { file, name } of arrows) {
    for (const rule of brokenBy(file, name)) found.push({ rule, file, imported: name });
  }
  for (const cycle of cyclesIn(entriesOfFolders(imports))) {
    found.push({
      rule: "no cycle",
      file: cycle[0] ?? "",
      imported: cycle.join(", "),
    });
  }
  return found;
}

interface Place {
  folder: string;
  floor: number;
}

/** By the path of each folder and file that the table of floors names. */
const places: ReadonlyMap<string, Place> = new Map(
  floors.flatMap((folders, floor) =>
    Object.entries(folders).flatMap(([folder, below]) =>
      [folder, ...below.map((name) => `${folder}/${name}`)].map((path) => [path, { folder, floor }] as const),
    ),
  ),
);

const placeOf = (file: string): Place | undefined => places.get(file) ?? places.get(dirname(file));

function* brokenBy(file: string, name: string): Generator<string> {
  const [from, to] = [placeOf(file), placeOf(name)];
  if (from && to && from.folder !== to.folder) {
    if (from.floor <= to.floor) yield "imports lead down";
    for (const door of doors) {
      if (door.of.test(file) && !door.may.some((path) => name.startsWith(path))) yield door.name;
    }
  }
  if (from && !to && /^(pipeline|service|cli|controller|inspect|shared|test|bench)\//.test(name))
    yield "imports lead down";
  for (const rule of reserved) {
    if (rule.in.test(file) && rule.modules.test(name) && !rule.only.test(file)) yield rule.name;
  }
}

/**
 * Imports between the entries of each folder below a room: its files and its folders, a folder with all that is in it.
 * The folder with both entries is the longest common one.
 */
function entriesOfFolders(imports: Imports): Imports {
  const between = new Map<string, Set<string>>();
  for (const [file, names] of imports) {
    for (const name of names.filter((each) => imports.has(each) && isSameRoom(file, each))) {
      const [from, to] = [file.split("/"), name.split("/")];
      const depth = from.findIndex((part, index) => part !== to[index]) + 1;
      if (depth === 0) continue;
      const entry = from.slice(0, depth).join("/");
      between.set(entry, (between.get(entry) ?? new Set()).add(to.slice(0, depth).join("/")));
    }
  }
  return new Map([...between].map(([entry, imported]) => [entry, [...imported]]));
}

const isSameRoom = (file: string, name: string): boolean => placeOf(file)?.folder === placeOf(name)?.folder;

/** Strongly connected components of more than one file (Tarjan). */
function cyclesIn(imports: Imports): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): number => {
    const index = order.size;
    order.set(file, index);
    lowest.set(file, index);
    open.push(file);
    for (const next of imports.get(file) ?? []) {
      if (!imports.has(next)) continue;
      const reached = order.has(next)
        ? open.includes(next)
          ? (order.get(next) ?? index)
          : index
        : visit(next);
      lowest.set(file, Math.min(lowest.get(file) ?? index, reached));
    }
    const low = lowest.get(file) ?? index;
    if (low === index) {
      const members = open.splice(open.indexOf(file));
      if (members.length > 1) cycles.push(members);
    }
    return low;
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return cycles;
}
