import { name as namePattern } from "../../../shared/fields.ts";
import { fold } from "../../records/merge.ts";
import type { LiveRecord } from "./read-records.ts";

export interface Address {
  url?: string | undefined;
  /** Last segment of the final download address. */
  file?: string | undefined;
}

export type Addresses = ReadonlyMap<number, Address>;

const isFileName = (text: string) =>
  namePattern.safeParse(text).success && Buffer.byteLength(text) <= 255 && !/^id-\d+$/.test(text);

/**
 * File name of each new record, which is its identity in the release: that of its download, else its name if
 * it is a unique file name, else its id.
 * @param records new records of one release
 * @param named all records of that release, to detect names used twice
 */
export function fileNames(
  records: readonly LiveRecord[],
  named: readonly LiveRecord[],
  usedNames: Iterable<string>,
  addresses: Addresses,
): Map<number, string> {
  const used = new Set([...usedNames].map(fold));
  const files = new Map<number, string>();
  const claim = (claims: readonly (readonly [number, string])[], count: ReadonlyMap<string, number>) => {
    for (const [id, file] of claims) {
      if (files.has(id) || !isFileName(file) || used.has(fold(file)) || count.get(fold(file)) !== 1) continue;
      files.set(id, file);
      used.add(fold(file));
    }
  };
  const resolved = records.flatMap(({ id }) => {
    const file = addresses.get(id)?.file;
    return file === undefined ? [] : [[id, file] as const];
  });
  claim(resolved, counted(resolved.map(([, file]) => file)));
  claim(
    records.map(({ id, name }) => [id, name] as const),
    counted(named.map(({ name }) => name)),
  );
  for (const { id } of records) if (!files.has(id)) files.set(id, `id-${id}`);
  return files;
}

function counted(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names.map(fold)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
