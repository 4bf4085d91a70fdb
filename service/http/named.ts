const longestHeader = 1024;

/** Names that somebody sent, as the value of a header: harmless there, and cut to a bound. */
export function namedInHeader(names: readonly string[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const name of names) {
    const encoded = encodeURIComponent(name.toWellFormed().slice(0, 64));
    length += encoded.length + 2;
    if (length > longestHeader) break;
    shown.push(encoded);
  }
  return shown.join(", ");
}
