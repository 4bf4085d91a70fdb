/** Remembers one answer: what asks for a release asks for it several times, and then for the next one. */
export function onlyTheLast<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  let last: { key: Key; value: Value } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: make(key) };
    return last.value;
  };
}
