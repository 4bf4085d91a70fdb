import { readFileSync } from "node:fs";
import { join } from "node:path";
import { codes, exitStatus } from "../../shared/errors.ts";
import { repository } from "../support/run.ts";

/** Remembers the result for each path: almost every command imports almost every module. */
function once<T>(work: (path: string) => T): (path: string) => T {
  const known = new Map<string, T>();
  return (path) => {
    if (!known.has(path)) known.set(path, work(path));
    return known.get(path) as T;
  };
}

const read = once((path) => readFileSync(join(repository, path), "utf8"));

const statement =
  /^(?:import|export) (?!type )(?:(\{[^}]*\}|\* as \w+|\w+) )?(?:from )?"(\.[^"]+)";$|import\("(\.[^"]+)"\)/gms;

/** The names of a statement, without types. */
const namesIn = (list: string): string[] =>
  list
    .replace(/[{}]/g, "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "))
    .map((name) => name.replace(/ as .*/, ""));

const library = "pipeline/index.ts";

/** The modules behind names of the library, because the library itself imports everything. */
function behindLibrary(names: readonly string[]): string[] {
  return [...read(library).matchAll(statement)].flatMap(([, list = "", path = ""]) =>
    namesIn(list).some((name) => names.includes(name)) ? [join("pipeline", path)] : [],
  );
}

const importsOf = once((path): string[] => {
  const folder = path.replace(/\/[^/]+$/, "");
  return [...read(path).matchAll(statement)].flatMap(([, list, from, lazy]) => {
    const target = join(folder, from ?? lazy ?? "");
    const names = list === undefined ? undefined : namesIn(list);
    if (names?.length === 0) return [];
    if (target !== library) return [target];
    return names ? behindLibrary(names) : [];
  });
});

const statusesNamedIn = once((path): number[] => {
  const text = read(path);
  const named = Object.entries(codes).filter(([code]) => text.includes(`"${code}"`));
  const verdicts = Object.entries(exitStatus).filter(([name]) => text.includes(`exitStatus.${name}`));
  const isAsking = text.includes("new Declined(");
  return [...named, ...verdicts].map(([, status]) => status).concat(isAsking ? exitStatus.declined : []);
});

/**
 * Exit statuses that a module names, or one that it imports: by a problem code, as a verdict, or as a question that is
 * answered with no. Some of them may be unreachable, but no other can be raised.
 */
export function statusesRaisedBy(entry: string): number[] {
  const seen = new Set<string>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path) || path === "shared/errors.ts" || path === "cli/terminal/fail.ts") continue;
    seen.add(path);
    waiting.push(...importsOf(path));
  }
  return [...new Set([...seen].flatMap(statusesNamedIn))];
}
