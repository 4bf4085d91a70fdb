/** The folder of a platform's page: characters outside `A-Za-z0-9.-` become dashes, and so does a name of dots. */
export const platformFolder = (name: string): string =>
  name.replace(/[^A-Za-z0-9.-]/g, "-").replace(/^\.+$/, (dots) => "-".repeat(dots.length));

/** Orders by name as people look for it, without a locale. */
export function byName(a: { name: string }, b: { name: string }): number {
  const [left, right] = [a.name.toLowerCase(), b.name.toLowerCase()];
  return left < right ? -1 : left > right ? 1 : 0;
}
