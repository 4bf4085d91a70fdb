import type { OutputFile, PublishedRelease } from "../documents/published.ts";
import { textFile } from "./output.ts";

/** `releases/{version}/SHA256SUMS` as `sha256sum -c` reads it, by file name in code units; known checksums only. */
export function checksumFile(release: PublishedRelease): OutputFile {
  const known = release.packages.filter(({ record }) => record.checksum !== "unknown");
  const files = known.sort((a, b) => (a.file < b.file ? -1 : 1));
  const lines = files.map(({ file, record }) => `${record.checksum}  ${file}\n`);
  return textFile(`releases/${release.version}/SHA256SUMS`, lines.join(""));
}
