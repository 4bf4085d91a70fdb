import { isRelativePath } from "../documents/relative-path.ts";
import { digestOf } from "../system/files.ts";
import { realFolders } from "../system/real-folders.ts";
import { isRecentlyChanged, isSameStatData, type MadeFile, readStatData } from "./file-stats.ts";

/**
 * Returns a test whether a file of a site is still as an earlier build left it.
 * @param recordedAt time at which the files were last inspected, in milliseconds since 1970
 */
export function untouchedFiles(out: string, recordedAt: number): (file: MadeFile) => boolean {
  const folders = realFolders(out);
  return ({ path, sha256, statData }) => {
    // The cache may be shared, so another writer could name any file here.
    if (!isRelativePath(path) || !folders.holds(path)) return false;
    // Its text was checked, and no folder above it is a link.
    const file = `${out}/${path}`;
    const now = readStatData(file);
    if (!now || !isSameStatData(now, statData)) return false;
    return !isRecentlyChanged(statData, recordedAt) || digestOf(file).sha256 === sha256;
  };
}
