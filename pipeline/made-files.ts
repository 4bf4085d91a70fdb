import type { MadeFile } from "./outside/output-table.ts";

/** The files of a build; as objects, those of a large site would take several times as much. */
export interface MadeFiles {
  add(files: Iterable<MadeFile>): void;
  /** In the order that they were added in. */
  paths: readonly string[];
  /** Ordered by path, by code unit. */
  sorted(): Generator<MadeFile>;
}

const digestLength = 32;

/** By 16,000 files: twice as many would stand empty for half of a large site. */
const growth = digestLength << 14;

export function madeFiles(): MadeFiles {
  const paths: string[] = [];
  const sizes: number[] = [];
  let digests = Buffer.alloc(growth);
  return {
    add(files) {
      for (const { path, sha256, size } of files) {
        const end = paths.length * digestLength;
        if (end === digests.length) digests = Buffer.concat([digests], end + growth);
        digests.write(sha256, end, "hex");
        sizes.push(size);
        paths.push(path);
      }
    },
    paths,
    *sorted() {
      const rows = Uint32Array.from(paths.keys());
      rows.sort((a, b) => ((paths[a] as string) < (paths[b] as string) ? -1 : 1));
      for (const row of rows) {
        const sha256 = digests.toString("hex", row * digestLength, (row + 1) * digestLength);
        yield { path: paths[row] as string, sha256, size: sizes[row] as number };
      }
    },
  };
}
