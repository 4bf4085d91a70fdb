/**
 * Web servers derive validators from size and time. Times are whole seconds, always increasing, and differ
 * between representations of a resource: each kind has its own remainder modulo 4.
 * @returns seconds since 1970
 */
export function modificationTime(path: string, now: number, oldMs: number | undefined): number {
  const floor = Math.max(Math.floor(now / 1000), oldMs === undefined ? 0 : Math.floor(oldMs / 1000) + 1);
  return floor + ((((representation(path) - floor) % 4) + 4) % 4);
}

function representation(path: string): number {
  if (path.endsWith(".html")) return 1;
  if (path.includes("ordering=")) return 2;
  return path.endsWith("gone.json") ? 3 : 0;
}
