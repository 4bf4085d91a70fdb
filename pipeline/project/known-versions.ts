import { type Problem, throwErrors } from "../../shared/errors.ts";
import { isFolder } from "../system/folders.ts";

/** @throws RelcatError version-unknown for each version without a folder */
export function requireVersions(folder: string, versions: readonly string[]): void {
  throwErrors(
    versions
      .filter((version) => !isFolder(`${folder}/${version}`))
      .map((version) => versionUnknown(version, folder)),
  );
}

export function versionUnknown(version: string, folder: string): Problem {
  return {
    code: "version-unknown",
    severity: "error",
    message: `there is no release ${version}`,
    hint: `See ${folder}/ for the existing versions.`,
  };
}
