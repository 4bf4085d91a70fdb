import { type Problem, RelcatError, throwErrors } from "../../shared/errors.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { loadCatalog } from "../ledger/load-catalog.ts";
import { publishRelease } from "../ledger/publish-records.ts";
import { versionUnknown } from "../project/known-versions.ts";

/**
 * Public view of one release; problems of other releases are ignored.
 * @throws RelcatError version-unknown, and the problems of this release and of catalog.yaml
 */
export async function showRelease(folder: string, version: string) {
  const catalog = await loadCatalog(folder);
  const found = catalog.identified.releases.find(({ release }) => release.version === version);
  if (!found) throw new RelcatError([versionUnknown(version, folder)]);
  throwErrors(problemsBelow(catalog, `${version}/`));
  return { release: publishRelease(found, catalog.ledger, catalog.config), config: catalog.config };
}

const problemsBelow = ({ folder, problems }: Catalog, path: string): Problem[] =>
  problems.filter(
    ({ at }) => at && (at.file === `${folder}/catalog.yaml` || at.file.startsWith(`${folder}/${path}`)),
  );

/** Problems that affect how notes are displayed. */
export function noteProblems(problems: readonly Problem[]): Problem[] {
  return problems.filter(({ code, at }) => {
    if (code.startsWith("note-")) return true;
    // Inline notes are in release.yaml, so they are lost if it is unreadable.
    return (
      at &&
      (/\/notes\/[^/]+$/.test(at.file) || (at.file.endsWith("/release.yaml") && !code.startsWith("release-")))
    );
  });
}
