/**
 * Of what is ordered, the last that is not beyond a place.
 * @param keyOf ascending, of the indexes from 0 to `count`, which is left out
 * @returns its index; 0 where all are beyond
 */
export function lastUpTo<Key extends number | string>(
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
