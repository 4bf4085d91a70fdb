import { fstatSync, statSync, writeSync } from "node:fs";
import type { Output } from "./host.ts";

/**
 * An output without a stream, where that makes no difference: to make one takes a tenth of Node's start.
 * @param fd 1 or 2
 * @param stream is made for who may be looking, in colours, and to wait for slow readers, or to say what failed
 */
export function outputAtOnce(
  fd: number,
  stream: () => NodeJS.WriteStream,
  outputOf: (stream: NodeJS.WriteStream) => Output,
): Output {
  if (mayBeTerminal(fd) || process.env.FORCE_COLOR !== undefined) return outputOf(stream());
  let late: NodeJS.WriteStream | undefined;
  return {
    write(text) {
      const left = late ? Buffer.from(text) : leftAtOnce(fd, Buffer.from(text));
      if (left.length === 0) return;
      late ??= stream();
      late.write(left);
    },
    style: (_, text) => text,
    columns: undefined,
  };
}

/** Writes what can be written now. @returns the rest */
function leftAtOnce(fd: number, bytes: Buffer): Buffer {
  let left = bytes;
  try {
    while (left.length > 0) left = left.subarray(writeSync(fd, left));
  } catch {
    // The stream that gets the rest waits, or says what is wrong.
  }
  return left;
}

function mayBeTerminal(fd: number): boolean {
  const stat = fstatSync(fd);
  if (!stat.isCharacterDevice()) return false;
  return stat.rdev !== statSync("/dev/null", { throwIfNoEntry: false })?.rdev;
}
