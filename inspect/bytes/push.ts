import { malformed } from "../verdict.ts";
import { areZeros } from "./byte-source.ts";

/** The bytes wanted next: an exact count (`orEnd`: the input may also end here), or at most `most` bytes. */
export type Wanted = { exactly: number; orEnd?: boolean } | { most: number };

/** A parser for chunked input, written as if it could ask for the bytes it needs. */
export type Steps = Generator<Wanted, void, Uint8Array>;

/** Feeds a parser the bytes it wants from chunks of any size. @param what name of the format, for messages */
export function pushReader(steps: Steps, what: string) {
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
    /** @throws Fault whatever the steps throw; malformed, if non-zero bytes follow the end */
    write(chunk: Uint8Array) {
      let rest = chunk;
      while (rest.length > 0 && !step.done) rest = rest.subarray(give(step.value, rest));
      if (!areZeros(rest)) throw malformed(`bytes follow the end of the ${what}`);
    },
    /** @throws Fault malformed, if the input ends too early */
    end() {
      const mayEnd = step.done || ("orEnd" in step.value && step.value.orEnd && held.length === 0);
      if (!mayEnd) throw malformed(`the ${what} ends too early`);
    },
  };
}

/** Receives content in pieces, each valid only during the call. */
export type TakePiece = (piece: Uint8Array) => void;

export function* pass(length: number, take: TakePiece = () => {}): Steps {
  for (let left = length; left > 0; ) {
    const piece = yield { most: left };
    take(piece);
    left -= piece.length;
  }
}
