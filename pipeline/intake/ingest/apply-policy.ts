import type { Settings } from "../../documents/config.ts";
import type { WrittenArtifact } from "../../documents/manifest.ts";
import { inspectPackage } from "../../policy/inspect-files.ts";
import { type Claim, policyProblems } from "../../policy/refusals.ts";
import { readSigners } from "../../policy/signers.ts";
import type { ClaimInspector } from "./measure.ts";

type Named = Pick<WrittenArtifact, "file" | "name" | "package_type">;

/**
 * @param now time at which certificates must be valid, in milliseconds since 1970
 * @throws RelcatError for signers that cannot be read
 */
export async function policyInspector(
  config: Settings,
  catalog: string,
  { artifacts, release }: { artifacts: readonly Named[]; release: string },
  now: number,
): Promise<ClaimInspector> {
  const { keys, digestOf } = await readSigners(config, catalog);
  const types = new Map(artifacts.map(({ file, name, package_type }) => [file ?? name, package_type]));
  return async ({ name, at: whole, finished }, { file, openSibling }) => {
    const type = types.get(name) ?? "";
    const [policy, kind] = [config.policies.get(type), config.packageTypes.get(type)?.kind];
    if (!policy || !kind) return undefined;
    const { selfCheck } = policy;
    const inspection = await inspectPackage(file, kind, { keys, now, openSibling, selfCheck });
    const at = (claim?: Claim) => {
      if (!finished || !claim) return whole();
      return claim === "release" ? finished.release() : finished.place([claim]);
    };
    const held = { name, packageType: type, version: release, at };
    const problems = policyProblems(inspection, policy, held);
    const { verdict, key_id } = inspection;
    return { inspection, inspected: { verdict, key_id, policy: digestOf(policy) }, problems };
  };
}
