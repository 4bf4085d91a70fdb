import type { MadeFile } from "./output-table.ts";

/** The files of a build; as objects, those of a large site would take several times as much. */
export interface MadeFiles {
  add(files: Iterable<MadeFile>): void;
  /** In the order that they were added in. */
  paths: readonly string[];
  /** Of each file four numbers, in the same order. */
  looks(): Float64Array;
  /** SHA-256 of the file in this row, in hexadecimal. */
  digest(row: number): string;
  /** Ordered by path, by code unit. */
  sorted(): Generator<Omit<MadeFile, "look">>;
}

const digestLength = 32;

/** By 16,000 files: twice as many would stand empty for half of a large site. */
const growth = digestLength << 14;

export function madeFiles(): MadeFiles {
  const paths: string[] = [];
  const sizes: number[] = [];
  const looks: number[] = [];
  let digests = Buffer.alloc(growth);
  const digest = (row: number) => digests.toString("hex", row * digestLength, (row + 1) * digestLength);
  return {
    add(files) {
      for (const { path, sha256, size, look } of files) {
        const end = paths.length * digestLength;
        if (end === digests.length) digests = Buffer.concat([digests], end + growth);
        digests.write(sha256, end, "hex");
        sizes.push(size);
        looks.push(...look);
        paths.push(path);
      }
    },
    paths,
    looks: () => Float64Array.from(looks),
    digest,
    *sorted() {
      const rows = Uint32Array.from(paths.keys());
      rows.sort((a, b) => ((paths[a] as string) < (paths[b] as string) ? -1 : 1));
      for (const row of rows) {
        yield { path: paths[row] as string, sha256: digest(row), size: sizes[row] as number };
      }
    },
  };
}
