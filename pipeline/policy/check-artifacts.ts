import type { Problem } from "../../shared/errors.ts";
import type { Catalog } from "../ledger/catalog.ts";
import type { ChangedMetadata } from "../ledger/settled-metadata.ts";
import { artifactAtHand } from "../system/input-files.ts";
import type { PolicyOptions } from "./judge.ts";

/**
 * Checks the available artifacts against the policies in catalog.yaml and against the metadata in manifests;
 * missing artifacts are skipped.
 * @param artifacts folder that holds them as FILE or VERSION/FILE
 * @param process clock: time at which certificates must be valid, in milliseconds since 1970
 * @throws RelcatError folder-missing, or a signer or artifact that cannot be read
 */
export async function artifactProblems(
  catalog: Catalog,
  artifacts: string,
  process: Pick<PolicyOptions, "clock" | "jobs" | "onProgress">,
): Promise<Problem[]> {
  const { judgeArtifacts } = await import("./judge.ts");
  const all = catalog.releases.flatMap((release) => release.artifacts);
  return judgeArtifacts(catalog, all, { artifacts, needsClaims: false, ...process });
}

/** @param artifacts folder whose artifacts were checked; undefined: none was */
export const unprovedMetadata = (
  changed: readonly ChangedMetadata[],
  artifacts: string | undefined,
): Problem[] => changed.filter((each) => !isProved(each, artifacts)).map(({ problem }) => problem);

/** True if the bytes were at hand; errors of their check are reported apart. */
function isProved({ artifact, members }: ChangedMetadata, folder: string | undefined): boolean {
  if (folder === undefined) return false;
  const { metadata, documents = [], content, file } = artifact;
  const isAtHand = (name: string) => artifactAtHand(folder, content.version, name) !== undefined;
  return members.every((member) =>
    member === "package"
      ? metadata !== undefined && isAtHand(file)
      : documents.length > 0 && documents.every((document) => isAtHand(document.file)),
  );
}
