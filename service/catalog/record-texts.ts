const [quote, backslash, openBrace, closeBrace] = [0x22, 0x5c, 0x7b, 0x7d];
const [opening, comma, closing] = [Uint8Array.of(0x5b), Uint8Array.of(0x2c), Uint8Array.of(0x5d)];

/** A list's bytes with the range of each record. */
export class RecordTexts {
  readonly #bytes: Uint8Array;
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;

  /** @param bytes a JSON array of records, compact as relcat emits it */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    const { starts, ends } = elements(bytes);
    this.#starts = Uint32Array.from(starts);
    this.#ends = Uint32Array.from(ends);
  }

  get count(): number {
    return this.#starts.length;
  }

  text(position: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[position], this.#ends[position]);
  }

  /** Length of the JSON array of these records, in bytes. */
  lengthOf(positions: readonly number[]): number {
    let length = Math.max(positions.length + 1, 2);
    for (const position of positions) length += (this.#ends[position] ?? 0) - (this.#starts[position] ?? 0);
    return length;
  }

  /** The JSON array of these records in chunks of at most `size` bytes. */
  *pieces(positions: readonly number[], size: number): Generator<Uint8Array, undefined> {
    let left = this.lengthOf(positions);
    let piece = new Uint8Array(Math.min(size, left));
    let used = 0;
    for (const segment of this.#segments(positions)) {
      for (let from = 0; from < segment.length; ) {
        const part = segment.subarray(from, from + piece.length - used);
        piece.set(part, used);
        used += part.length;
        from += part.length;
        if (used < piece.length) continue;
        yield piece;
        left -= used;
        used = 0;
        piece = new Uint8Array(Math.min(size, left));
      }
    }
  }

  /** Consecutive records form one segment, including the commas between them. */
  *#segments(positions: readonly number[]): Generator<Uint8Array> {
    yield opening;
    for (let from = 0; from < positions.length; ) {
      let to = from + 1;
      while (to < positions.length && this.#areAdjacent(positions[to - 1], positions[to])) to++;
      if (from > 0) yield comma;
      const [first = 0, last = 0] = [positions[from], positions[to - 1]];
      yield this.#bytes.subarray(this.#starts[first], this.#ends[last]);
      from = to;
    }
    yield closing;
  }

  #areAdjacent(a = 0, b = 0): boolean {
    return b === a + 1 && this.#starts[b] === (this.#ends[a] ?? 0) + 1;
  }
}

function elements(bytes: Uint8Array): { starts: number[]; ends: number[] } {
  const starts: number[] = [];
  const ends: number[] = [];
  let depth = 0;
  let inText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inText) {
      if (byte === backslash) at++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === openBrace) {
      if (depth++ === 0) starts.push(at);
    } else if (byte === closeBrace && --depth === 0) ends.push(at + 1);
  }
  return { starts, ends };
}
