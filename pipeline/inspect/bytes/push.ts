import { malformed } from "../inspection.ts";
import { areZeros } from "./zeros.ts";

/** What is wanted next: exactly so many bytes, unless all may end here, or at most so many of whatever comes. */
export type Wanted = { exactly: number; orEnd?: boolean } | { most: number };

/** Reads a format whose bytes come in chunks, written as if they could be asked for. */
export type Steps = Generator<Wanted, void, Uint8Array>;

export interface PushReader {
  /** @throws Fault what the steps throw; malformed, for bytes after the end that are not zero */
  write(chunk: Uint8Array): void;
  /** @throws Fault malformed, before the end */
  end(): void;
}

/**
 * Gives steps the bytes they want, out of chunks of any size.
 * @param what the format, for messages
 */
export function pushReader(steps: Steps, what: string): PushReader {
  let step = steps.next();
  let held = Buffer.alloc(0);

  function give(wanted: Wanted, chunk: Uint8Array): number {
    if ("most" in wanted) {
      const piece = chunk.subarray(0, wanted.most);
      step = steps.next(piece);
      return piece.length;
    }
    const missing = chunk.subarray(0, wanted.exactly - held.length);
    held = Buffer.concat([held, missing]);
    if (held.length === wanted.exactly) {
      const whole = held;
      held = Buffer.alloc(0);
      step = steps.next(whole);
    }
    return missing.length;
  }

  return {
    write(chunk) {
      let rest = chunk;
      while (rest.length > 0 && !step.done) rest = rest.subarray(give(step.value, rest));
      if (!areZeros(rest)) throw malformed(`bytes follow the end of the ${what}`);
    },
    end() {
      const mayEnd = step.done || ("orEnd" in step.value && step.value.orEnd && held.length === 0);
      if (!mayEnd) throw malformed(`the ${what} breaks off before its end`);
    },
  };
}

export function* skip(length: number): Steps {
  for (let left = length; left > 0; ) left -= (yield { most: left }).length;
}
