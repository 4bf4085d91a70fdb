import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Garbage that may come together, besides a quarter of what is alive, in bytes. */
const usual = 32 << 20;

/** Room that young objects get, in bytes: more saves no time, and V8 would give them 64 MB. */
const young = 16 << 20;

/** Of this thread's heap. */
const heap: { limit: number; isYoungBounded: boolean; collect?: () => unknown } = {
  limit: 0,
  isYoungBounded: false,
};

/**
 * To be called between pieces of work: collects what they left when it has become much. V8 lets several times of what is
 * alive come together before it looks through old objects, and releases on their way to files grow old. Where the heap is
 * small it is left alone: a collection costs a thousandth of a second for each megabyte.
 * @param most garbage that may come together, besides a quarter of what is alive, in bytes
 */
export function collectMuch(most = usual): void {
  if (!heap.isYoungBounded) heap.isYoungBounded = boundYoungSpace();
  if (size() < Math.max(heap.limit, 2 * most)) return;
  heap.collect ??= collector();
  heap.collect();
  heap.limit = size() * 1.25 + most;
}

/** @returns what does nothing, where V8 has no such switch any more */
function collector(): () => unknown {
  setFlagsFromString("--expose-gc");
  return runInNewContext("globalThis.gc") ?? (() => {});
}

/** Of all objects and what they hold outside of the heap, in bytes. */
function size(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

/** The space doubles when much survives; at its bound it is kept from that. @returns whether it is there */
function boundYoungSpace(): boolean {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  if (!space || space.space_size < young) return false;
  setFlagsFromString("--semi-space-growth-factor=1");
  // For threads that start from now on, in MB, of one of its two halves: theirs would not grow either.
  setFlagsFromString("--min-semi-space-size=4");
  return true;
}
