/** Case-insensitive order, independent of the locale. */
export function byName(a: { name: string }, b: { name: string }): number {
  const [left, right] = [a.name.toLowerCase(), b.name.toLowerCase()];
  return left < right ? -1 : left > right ? 1 : 0;
}
