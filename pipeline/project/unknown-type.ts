import { distance } from "fastest-levenshtein";

/**
 * What to do about a package type that no row of the table names: most of them are misspelled.
 * @param known names of the rows
 */
export function unknownTypeHint(type: string, known: Iterable<string>): string {
  const near = nearestName(type, known);
  const register = `egister it in catalog.yaml: package_types: { ${type}: { operating_system: linux, platform: 17, kind: client, description: … } }`;
  return near === undefined ? `R${register}` : `Did you mean ${near}? If not, r${register}`;
}

/** The name that was most likely meant; undefined where none is like it. */
export function nearestName(word: string, known: Iterable<string>): string | undefined {
  const [near] = [...known]
    .filter((name) => isNear(name, word.toLowerCase()))
    .sort((a, b) => distance(a, word) - distance(b, word));
  return near;
}

const isNear = (name: string, type: string): boolean =>
  distance(name, type) <= Math.max(1, Math.floor(type.length / 3)) ||
  letters(name) === letters(type) ||
  (Math.min(name.length, type.length) > 2 && (type.startsWith(name) || name.startsWith(type)));

/** Two letters in the wrong order are two edits, and one slip. */
const letters = (word: string): string => [...word].sort().join("");
