import { lineOf } from "../../shared/version.ts";

/** In milliseconds. */
export const day = 24 * 3_600_000;

export interface Signing {
  /** Milliseconds since 1970. */
  now: number;
  /** Days until the timestamp expires, which is how long a replayed old state is accepted. */
  validDays: number;
}

/** Root and targets must outlast holidays. */
export const signingOffline = (now: number): Signing => ({ now, validDays: 365 });

/** Days before the end of root and targets at which their holders are reminded. */
export const warningDays = 60;

/** Shortest lifetimes in days. No role expires before the timestamp. */
const shortest: Readonly<Record<string, number>> = { catalog: 30, releases: 90, snapshot: 14 };

/** Lifetime of a role's metadata in milliseconds; delegated roles depend on their kind. */
const lifetimeOf = (role: string, { validDays }: Signing): number =>
  Math.max(shortest[role.split("-")[0] ?? role] ?? 0, validDays) * day;

/** TUF's date format, to the second. @param time milliseconds since 1970 */
export const dateOf = (time: number): string =>
  new Date(Math.floor(time / 1000) * 1000).toISOString().replace(".000Z", "Z");

export const expiryOf = (role: string, signing: Signing): string =>
  dateOf(signing.now + lifetimeOf(role, signing));

/** A clock may be wrong by this, in milliseconds. The dates of apt allow for it. */
export const clockTolerance = 300_000;

/** Metadata is renewed after half of its lifetime, and if it would outlive a new signature. */
export function isDue(role: string, expires: string, signing: Signing): boolean {
  const [left, lifetime] = [Date.parse(expires) - signing.now, lifetimeOf(role, signing)];
  return left < lifetime / 2 || left > lifetime + clockTolerance;
}

/** How a role that is signed offline is renewed, as the beginning of a sentence. */
export const renewal = (role: string): string =>
  `${role === "root" ? "Holders of root keys renew it" : "The holder of the targets key renews it"}: relcat trust sign --keys KEYS`;

/** The roles for a release: that of its year, which only delegates, and that of its month. */
export const rolesOfRelease = (version: string): { year: string; month: string } => ({
  year: `releases-${version.slice(0, 2)}`,
  month: `releases-${lineOf(version)}`,
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
