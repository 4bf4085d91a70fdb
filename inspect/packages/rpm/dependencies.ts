import type { RpmEntry } from "../../../shared/package-metadata.ts";
import { malformed } from "../../verdict.ts";
import { integersOf, type RpmHeader } from "./header.ts";
import { decodedTextsOf } from "./texts.ts";

/** Tags of a list of dependencies: names, flags, versions. */
type Tags = readonly [names: number, flags: number, versions: number];

const requires: Tags = [1049, 1048, 1050];
const provides: Tags = [1047, 1112, 1113];
const others = {
  conflicts: [1054, 1053, 1055],
  obsoletes: [1090, 1114, 1115],
  recommends: [5046, 5048, 5047],
  suggests: [5049, 5051, 5050],
  supplements: [5052, 5054, 5053],
  enhances: [5055, 5057, 5056],
} as const satisfies Readonly<Record<string, Tags>>;

export type RpmDependencies = Record<"provides" | "requires" | keyof typeof others, RpmEntry[]>;

/**
 * Reads the dependencies as createrepo_c writes them to `primary.xml`.
 * @param files paths of the package's files that `primary.xml` lists
 * @throws Fault malformed
 */
export function rpmDependencies(main: RpmHeader, files: ReadonlySet<string>): RpmDependencies {
  const entries = (tags: Tags) => [...readEntries(main, tags)].map(({ entry }) => entry);
  const provided = entries(provides);
  const own = new Set(provided.map(keyOf));
  const required = [...readEntries(main, requires)]
    .filter(({ entry }) => !entry.name.startsWith("rpmlib(") && !own.has(keyOf(entry)))
    .filter(({ entry }) => !files.has(entry.name))
    .map(({ entry, isPre }) => ({ ...entry, ...(isPre && { pre: true }) }));
  return {
    provides: provided,
    requires: highestLibcOnly(required.filter(differsFromLast())),
    conflicts: entries(others.conflicts),
    obsoletes: entries(others.obsoletes),
    recommends: entries(others.recommends),
    suggests: entries(others.suggests),
    supplements: entries(others.supplements),
    enhances: entries(others.enhances),
  };
}

const keyOf = (entry: RpmEntry) => JSON.stringify(entry);

/** As createrepo_c: an entry is compared with the last one of its name only. */
function differsFromLast(): (entry: RpmEntry) => boolean {
  const last = new Map<string, string>();
  return (entry) => {
    const isOther = last.get(entry.name) !== keyOf(entry);
    last.set(entry.name, keyOf(entry));
    return isOther;
  };
}

/** Bits of `flags`: a comparison, and whether scripts of the installation need the dependency. */
const comparisons = new Map<number, NonNullable<RpmEntry["flags"]>>([
  [2, "LT"],
  [4, "GT"],
  [8, "EQ"],
  [10, "LE"],
  [12, "GE"],
]);
const preFlags = (1 << 6) | (1 << 9) | (1 << 10);

function* readEntries(main: RpmHeader, [names, flags, versions]: Tags) {
  const [all, bits, bounds] = [
    decodedTextsOf(main, names),
    integersOf(main, flags),
    decodedTextsOf(main, versions),
  ];
  if (bits.length !== all.length || bounds.length !== all.length)
    throw malformed(
      `tag ${names} has ${all.length} names, tag ${flags} ${bits.length} flags, tag ${versions} ${bounds.length} versions`,
    );
  for (const [index, name] of all.entries()) {
    const bit = bits[index] ?? 0;
    const comparison = comparisons.get(bit & 15);
    const entry: RpmEntry = { name, ...(comparison && { flags: comparison, ...bound(bounds[index] ?? "") }) };
    yield { entry, isPre: (bit & preFlags) !== 0 };
  }
}

/** Epoch, version and release of `epoch:version-release`. As createrepo_c does, an epoch that is not a number is 0. */
function bound(text: string): Pick<RpmEntry, "epoch" | "version" | "release"> {
  if (text === "") return {};
  const [, epoch = "", version = "", release] = /^(?:([^:]*):)?([^-]*)(?:-(.*))?$/s.exec(text) ?? [];
  return {
    epoch: /^\d+$/.test(epoch) ? epoch : "0",
    ...(version !== "" && { version }),
    ...(release && { release }),
  };
}

const libc = "libc.so.6";

/** Requirements of the C library are symbol versions; the highest one includes the others, and comes last. */
function highestLibcOnly(entries: readonly RpmEntry[]): RpmEntry[] {
  const [first, ...more] = entries.filter(({ name }) => name.startsWith(libc));
  if (!first) return [...entries];
  const highest = more.reduce((most, entry) => (isHigher(entry, most) ? entry : most), first);
  return [...entries.filter(({ name }) => !name.startsWith(libc)), highest];
}

function isHigher(a: RpmEntry, b: RpmEntry): boolean {
  const [one, other] = [symbolVersion(a.name), symbolVersion(b.name)];
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const difference = (one[index] ?? -1) - (other[index] ?? -1);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

/** 2.34 of `libc.so.6(GLIBC_2.34)(64bit)`; empty if there is none. */
const symbolVersion = (name: string): number[] =>
  (/^[^(]*\([^)\d]*([\d.]+)[^)]*\)/.exec(name)?.[1] ?? "").split(".").filter(Boolean).map(Number);
