import type { Problem } from "../errors.ts";
import type { Catalog } from "../ledger/catalog.ts";

/**
 * Checks the available artifacts against the policies in catalog.yaml; missing artifacts are skipped.
 * @param artifacts folder that holds them as FILE or VERSION/FILE
 * @param clock time at which certificates must be valid, in milliseconds since 1970
 * @throws RelcatError folder-missing, or a signer or artifact that cannot be read
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
