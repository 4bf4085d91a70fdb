import type { RecordContent } from "../documents/package-record.ts";

/** A file of a release. Only name and type of a withdrawn one are known. */
export interface Pairable {
  file: string;
  content: Partial<RecordContent>;
  arch?: string | undefined;
}

/**
 * Pairs the files of two releases by type, system, architecture and variant, or by names without their numbers, which are
 * versions; first those for which both agree. templates/changes.js does the same.
 */
export function pairFiles<T extends Pairable>(older: readonly T[], newer: readonly T[]) {
  const [removed, added] = [new Set(older), new Set(newer)];
  const pairs: (readonly [older: T, newer: T])[] = [];
  for (const keyOf of [(file: T) => traits(file) + named(file), named, traits]) {
    const left = Map.groupBy(removed, keyOf);
    for (const file of added) {
      const other = left.get(keyOf(file))?.shift();
      if (!other) continue;
      pairs.push([other, file]);
      removed.delete(other);
      added.delete(file);
    }
  }
  return { pairs, removed: [...removed], added: [...added] };
}

/** Numbers in names of architectures, such as `win32` and `i686`, are not versions. */
const version = /(?<!(?<![a-z])(?:win|x|x86_|i|amd|armv?|aarch|ppc|riscv|s)\d*)\d+(?:\.\d+)*/gi;

const named = ({ file, content }: Pairable) => `${content.package_type} ${file.replace(version, "#")}`;

/** The type implies system and platform. */
const traits = ({
  arch,
  content: { package_type, min_os_version, max_os_version, gui_only, headless },
}: Pairable) => JSON.stringify([package_type, arch, min_os_version, max_os_version, gui_only, headless]);
