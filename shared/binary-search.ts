/**
 * Binary search: the last item whose key is not greater than `key`.
 * @param keyOf ascending keys of the indexes from 0 to `count` (exclusive)
 * @returns its index; 0 if all keys are greater
 */
export function lastNotGreater<Key extends number | string>(
  count: number,
  keyOf: (index: number) => Key,
  place: Key,
): number {
  let [low, high] = [0, count - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (keyOf(middle) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}
