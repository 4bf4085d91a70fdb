import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Garbage that may come together, besides half as much as is alive, in bytes. */
const most = 64 << 20;

/**
 * V8 lets several times of what is alive come together before it looks through old objects, and releases on their way to
 * files grow old. Where the heap is small it is left alone: a collection costs a thousandth of a second for each megabyte.
 * @returns to be called between pieces of work; collects what they left when it has become much
 */
export function heapWatch(): () => void {
  let limit = 2 * most;
  return () => {
    if (getHeapStatistics().used_heap_size < limit) return;
    setFlagsFromString("--expose-gc");
    const collect: (() => unknown) | undefined = runInNewContext("globalThis.gc");
    collect?.();
    limit = getHeapStatistics().used_heap_size * 1.5 + most;
  };
}
