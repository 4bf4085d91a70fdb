import { posix } from "node:path";
import type { RpmMetadata } from "../../shared/package-metadata.ts";
import type { AptSuite, YumSettings } from "../documents/feeds/settings.ts";

/** The parts of a record that decide in which suites a deb is. */
interface DebRecord {
  file: string;
  min_os_version: string | null;
  max_os_version: string | null;
}

/** Whether a suite takes a deb: its bounds include the suite's version, and its name matches. */
export const isInSuite = (
  { version, match }: AptSuite,
  { file, min_os_version: min, max_os_version: max }: DebRecord,
): boolean =>
  (match === undefined || posix.matchesGlob(file, match)) &&
  (version === undefined ||
    ((min === null || compareOsVersions(min, version) <= 0) &&
      (max === null || compareOsVersions(version, max) <= 0)));

/**
 * A bound of another numbering than the suite's version, with which it cannot be compared: Ubuntu's 22.04 and
 * Debian's 12, for example. A suite with `match` knows which files it means.
 */
export const foreignBound = (
  { version, match }: AptSuite,
  { min_os_version, max_os_version }: DebRecord,
): string | undefined =>
  version === undefined || match !== undefined
    ? undefined
    : [min_os_version, max_os_version]
        .filter((bound) => bound !== null)
        .find((bound) => isUbuntu(bound) !== isUbuntu(version));

/** Ubuntu's versions are a year and a month. */
export const isUbuntu = (version: string): boolean => /^\d\d\.(?:04|10)(?:\.\d+)?$/.test(version);

/** Part by part: numbers by value, and before text. A version comes before those that it begins. */
export function compareOsVersions(a: string, b: string): number {
  const [left, right] = [a.split(/[._-]/), b.split(/[._-]/)];
  for (const [index, part] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = compareParts(part, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareParts(a: string, b: string): number {
  const isNumber = [a, b].map((part) => /^\d+$/.test(part));
  if (isNumber[0] && isNumber[1]) return Number(a) - Number(b);
  if (isNumber[0] !== isNumber[1]) return isNumber[0] ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The repositories that take an rpm, of all channels. */
export const yumReposOf = (file: string, { repos }: YumSettings): YumSettings["repos"] =>
  repos.filter(({ match }) => match === undefined || posix.matchesGlob(file, match));

/** Name, epoch, version, release and architecture; a repository lists only one rpm of each. */
export const nevra = ({ name, epoch, version, release, native_arch }: RpmMetadata): string =>
  `${name}-${epoch}:${version}-${release}.${native_arch}`;
