import { readdirSync, statSync } from "node:fs";
import { failure } from "../../../shared/errors.ts";
import { shellWord } from "../../project/display.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { isMissing } from "../../system/files.ts";
import { lockFile } from "../../system/lock.ts";
import { realPlace } from "../../system/real-folders.ts";

/** Temporary folder of a build inside the site's folder, removed after every finished build. */
export const workFolder = ".relcat-tmp";

/** Any of these marks a folder as relcat's: finished, unfinished, or of a version that kept its lock there. */
const marks = ["build.json", workFolder, lockFile];

/**
 * A build removes earlier output. @param source the releases folder, which also has a lock file
 * @throws RelcatError folder-not-ours
 */
export function refuseForeignFolder(folder: string, source: string): void {
  const refused = (what: string, hint: string) => failure("folder-not-ours", `${folder} ${what}`, hint);
  const [out, authored] = [realPlace(folder), realPlace(source)];
  if (`${out}/`.startsWith(`${authored}/`) || `${authored}/`.startsWith(`${out}/`)) {
    const relation = out === authored ? "is" : out.startsWith(authored) ? "is in" : "holds";
    throw refused(
      `${relation} the releases folder, expected a folder for the site alone`,
      "Give another folder with --out, such as dist.",
    );
  }
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw refused("is a file, expected a folder", "Give another folder with --out.");
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return;
    throw accessFailure(`cannot read ${folder}`, error);
  }
  if (names.length === 0 || marks.some((mark) => names.includes(mark))) return;
  if (names.includes("artifacts.json"))
    throw refused(
      "is output of GoReleaser, expected a folder for the site alone",
      `Give another folder with --out, such as site. relcat ingest --release VERSION ${shellWord(folder)} reads this one.`,
    );
  throw refused(
    "holds files but no build.json, expected an absent or empty folder, or an earlier build",
    "Give another folder with --out, or empty this one.",
  );
}
