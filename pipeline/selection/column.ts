import { compareKeys, type SortKey, sortKey } from "./fields.ts";

/** Records whose field matches a text in a query. */
export interface Matches {
  /** Ascending. */
  positions: Uint32Array;
  includes(position: number): boolean;
}

/** One field of all records, stored as distinct values and a code per record. */
export class Column {
  readonly #values: unknown[] = [];
  readonly #codes: Uint32Array;
  #codeOf: Map<unknown, number> | undefined = new Map();
  #count = 0;
  #grouped: { positions: Uint32Array; starts: Uint32Array } | undefined;
  #ranks: Uint32Array | undefined;

  constructor(size: number) {
    this.#codes = new Uint32Array(size);
  }

  static of(values: readonly unknown[]): Column {
    const column = new Column(values.length);
    for (const value of values) column.add(value);
    return column;
  }

  /** Adds the value of the next record; a missing one counts as null. */
  add(given: unknown): void {
    const value = given ?? null;
    const codes = this.#codesByValue();
    let code = codes.get(value);
    if (code === undefined) {
      code = this.#values.push(value) - 1;
      codes.set(value, code);
    }
    this.#codes[this.#count++] = code;
  }

  /** Called after the last value. Indexes are built lazily, because few fields are ever queried. */
  finish(): void {
    this.#codeOf = undefined;
  }

  #codesByValue(): Map<unknown, number> {
    this.#codeOf ??= new Map(this.#values.map((value, code) => [value, code]));
    return this.#codeOf;
  }

  value(position: number): unknown {
    return this.#values[this.#codes[position] ?? -1];
  }

  having(text: string): Matches {
    const wanted: number[] = [];
    for (const value of valuesReadAs(text)) {
      const code = this.#codesByValue().get(value);
      if (code !== undefined) wanted.push(code);
    }
    const [only = -1] = wanted;
    const codes = this.#codes;
    return wanted.length > 1
      ? {
          positions: merged(wanted.map((code) => this.#positionsOf(code))),
          includes: (position) => wanted.includes(codes[position] ?? -1),
        }
      : {
          positions: only < 0 ? none : this.#positionsOf(only),
          includes: (position) => codes[position] === only,
        };
  }

  /** Rank of each record by this field; built on first use. */
  ranks(): Uint32Array {
    if (!this.#ranks) {
      const ofValues = ranksOf(this.#values.map(sortKey));
      this.#ranks = this.#codes.map((code) => ofValues[code] ?? 0);
    }
    return this.#ranks;
  }

  #positionsOf(code: number): Uint32Array {
    this.#grouped ??= grouped(this.#codes, this.#values.length);
    const { positions, starts } = this.#grouped;
    return positions.subarray(starts[code], starts[code + 1]);
  }
}

const none = new Uint32Array();

/** Positions sorted by code, and the start of each code's range. */
function grouped(codes: Uint32Array, count: number): { positions: Uint32Array; starts: Uint32Array } {
  const starts = new Uint32Array(count + 1);
  for (const code of codes) starts[code + 1] = (starts[code + 1] ?? 0) + 1;
  for (let code = 0; code < count; code++) starts[code + 1] = (starts[code + 1] ?? 0) + (starts[code] ?? 0);
  const next = starts.slice();
  const positions = new Uint32Array(codes.length);
  for (const [position, code] of codes.entries()) {
    const at = next[code] ?? 0;
    positions[at] = position;
    next[code] = at + 1;
  }
  return { positions, starts };
}

const merged = (lists: readonly Uint32Array[]): Uint32Array =>
  Uint32Array.from(lists.flatMap((list) => [...list])).sort();

/** Equal keys have the same rank. */
export function ranksOf(keys: readonly SortKey[]): Uint32Array {
  const compare = (a = 0, b = 0) => compareKeys(keys[a], keys[b]);
  const sorted = Uint32Array.from(keys.keys()).sort(compare);
  const ranks = new Uint32Array(keys.length);
  let rank = 0;
  for (const [index, position] of sorted.entries()) {
    if (index > 0 && compare(sorted[index - 1], position) !== 0) rank++;
    ranks[position] = rank;
  }
  return ranks;
}

/** Compares values with the text of a query. */
export function matcher(text: string): (value: unknown) => boolean {
  const values = valuesReadAs(text);
  return (value) => values.includes(value ?? null);
}

/** An empty text matches only null: an installer's unset variable must never widen its choice. */
function valuesReadAs(text: string): unknown[] {
  const values: unknown[] = [text];
  if (String(Number(text)) === text) values.push(Number(text));
  if (text === "" || text === "null") values.push(null);
  if (text === "true" || text === "1") values.push(true);
  if (text === "false" || text === "0") values.push(false);
  return values;
}
