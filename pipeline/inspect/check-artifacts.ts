import type { Problem } from "../errors.ts";
import type { Catalog } from "../ledger/catalog.ts";

/**
 * What the artifacts at hand are refused for by the policies of catalog.yaml; those that are not there are left out.
 * @param artifacts folder with them, as FILE or VERSION/FILE
 * @param clock when certificates must be valid, in milliseconds since 1970
 * @throws RelcatError folder-missing; for signers or artifacts that cannot be read
 */
export async function artifactProblems(
  catalog: Catalog,
  artifacts: string,
  clock: number,
): Promise<Problem[]> {
  const { judgeArtifacts } = await import("./policy/judge.ts");
  const all = catalog.releases.flatMap((release) => release.artifacts);
  return judgeArtifacts(catalog, all, { artifacts, needsClaims: false, clock });
}
