import { distance } from "fastest-levenshtein";

/** An unknown package type is usually a misspelling. */
export function unknownTypeHint(type: string, known: Iterable<string>): string {
  const near = nearestName(type, known);
  const register = `egister it in catalog.yaml: package_types: { ${type}: { operating_system: linux, platform: 17, kind: client, description: … } }`;
  return near === undefined ? `R${register}` : `Did you mean ${near}? If not, r${register}`;
}

/** The most similar name; undefined: none is similar. */
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

/** Two swapped letters are two edits but one mistake. */
const letters = (word: string): string => [...word].sort().join("");
