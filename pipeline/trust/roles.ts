/**
 * Lifetimes in days. Offline roles must outlast holidays; online roles must expire soon after a server is
 * compromised.
 */
const lifetimes = {
  root: 365,
  targets: 365,
  catalog: 30,
  releases: 90,
  snapshot: 14,
  timestamp: 7,
} as const;

const day = 24 * 3_600_000;

/** Lifetime of a role's metadata in days; delegated roles depend on their kind. */
export function lifetimeOf(role: string): number {
  const kind = role.startsWith("releases-") ? "releases" : (role as keyof typeof lifetimes);
  return lifetimes[kind] * day;
}

/** TUF's date format, to the second. @param time milliseconds since 1970 */
export const dateOf = (time: number): string =>
  new Date(Math.floor(time / 1000) * 1000).toISOString().replace(".000Z", "Z");

/** @param now milliseconds since 1970 */
export const expiryOf = (role: string, now: number): string => dateOf(now + lifetimeOf(role));

/** A clock may be wrong by this, in milliseconds. The dates of apt allow for it. */
export const clockTolerance = 300_000;

/** Metadata is renewed after half of its lifetime, and if the clock that dated it was ahead. */
export function isDue(role: string, expires: string, now: number): boolean {
  const left = Date.parse(expires) - now;
  return left < lifetimeOf(role) / 2 || left > lifetimeOf(role) + clockTolerance;
}

/** How a role that is signed offline is renewed, as the beginning of a sentence. */
export const renewal = (role: string): string =>
  `${role === "root" ? "Holders of root keys renew it" : "The holder of the targets key renews it"}: relcat trust sign --keys KEYS`;

/** The roles for a release: that of its year, which only delegates, and that of its month. */
export const rolesOfRelease = (version: string): { year: string; month: string } => ({
  year: `releases-${version.slice(0, 2)}`,
  month: `releases-${version.slice(0, 5)}`,
});

/** Hint for a release whose year is delegated to no role. */
export const moreYears =
  "Ask the holder of the targets key to sign for more years: relcat trust sign --keys KEYS";

/** True if the online key signs the role and its files are numbered. */
export const isOnlineRole = (role: string): boolean =>
  /^(?:snapshot|catalog|releases-\d\d(?:\.\d\d)?)$/.test(role);

/** Path patterns that the role is responsible for. */
export function pathsOf(role: string): string[] {
  if (role === "catalog") return ["catalog/*"];
  const version = role.slice("releases-".length);
  return [`releases/${version}.*/*`];
}

/** More targets in a role slow clients down; a month with 333 releases is a mistake. */
export const mostTargets = 1000;
