/** Days that metadata of a role is good for. The offline ones outlive holidays, the online ones no stolen server. */
const lifetimes = {
  root: 365,
  targets: 365,
  catalog: 30,
  releases: 90,
  snapshot: 14,
  timestamp: 7,
} as const;

const day = 24 * 3_600_000;

/** The life of a role's metadata: delegated roles by their kind. */
export function lifetimeOf(role: string): number {
  const kind = role.startsWith("releases-") ? "releases" : (role as keyof typeof lifetimes);
  return lifetimes[kind] * day;
}

/** A date to the second, as TUF writes it. @param time milliseconds since 1970 */
export const dateOf = (time: number): string =>
  new Date(Math.floor(time / 1000) * 1000).toISOString().replace(".000Z", "Z");

/** When metadata that is signed now expires. @param now milliseconds since 1970 */
export const expiryOf = (role: string, now: number): string => dateOf(now + lifetimeOf(role));

/** Past half of its life, metadata is renewed. */
export const isDue = (role: string, expires: string, now: number): boolean =>
  Date.parse(expires) - now < lifetimeOf(role) / 2;

/** Names of the roles that a release's targets lie with: its year's, which only delegates, and its month's. */
export const rolesOfRelease = (version: string): { year: string; month: string } => ({
  year: `releases-${version.slice(0, 2)}`,
  month: `releases-${version.slice(0, 5)}`,
});

/** Whether the online key signs a role that has numbered files. */
export const isOnlineRole = (role: string): boolean =>
  /^(?:snapshot|catalog|releases-\d\d(?:\.\d\d)?)$/.test(role);

/** Paths that a role may speak for. */
export function pathsOf(role: string): string[] {
  if (role === "catalog") return ["catalog/*"];
  const version = role.slice("releases-".length);
  return [`releases/${version}.*/*`];
}

/** Targets of one role; more make clients slow, and 333 releases a month are an accident. */
export const mostTargets = 1000;
