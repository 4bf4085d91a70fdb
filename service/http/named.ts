const maxHeaderLength = 1024;

/** Escapes and shortens names from a request for use in a header. */
export function namedInHeader(names: readonly string[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const name of names) {
    const encoded = encodeURIComponent(name.slice(0, 64).toWellFormed());
    length += encoded.length + 2;
    if (length > maxHeaderLength) break;
    shown.push(encoded);
  }
  return shown.join(", ");
}
