import type { OutputFile, PublishedRelease } from "../documents/published.ts";
import { textFile } from "./output.ts";

/** `releases/{version}/SHA256SUMS` as `sha256sum -c` reads it, by file name in code units. */
export function checksumFile(release: PublishedRelease): OutputFile {
  const files = [...release.packages].sort((a, b) => (a.file < b.file ? -1 : 1));
  const lines = files.map(({ file, record }) => `${record.checksum}  ${file}\n`);
  return textFile(`releases/${release.version}/SHA256SUMS`, lines.join(""));
}
