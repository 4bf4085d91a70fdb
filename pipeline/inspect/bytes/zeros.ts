/** A loop, because `every` with a callback per byte takes ten times as long. */
export function areZeros(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== 0) return false;
  return true;
}
