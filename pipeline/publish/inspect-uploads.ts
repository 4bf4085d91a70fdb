import type { Settings } from "../documents/config.ts";
import type { Manifest } from "../documents/manifest.ts";
import { policyInspector } from "../intake/ingest/apply-policy.ts";
import { contradictions } from "../intake/ingest/contradictions.ts";
import { type Claimed, wholeFile } from "../intake/ingest/evidence.ts";
import { evidenceOf } from "../intake/ingest/formats/finished-manifest.ts";
import type { Seen } from "../intake/ingest/measure.ts";
import { attestationOf } from "../policy/attestation.ts";
import type { FileWithNeighbours } from "../policy/sibling-files.ts";
import type { Located } from "../project/document.ts";
import type { NamedFile } from "./upload-plan.ts";

interface Standard {
  config: Settings;
  /** Path or URL of catalog.yaml. */
  catalog: string;
  version: string;
  manifests: readonly Located<Manifest>[];
  /** Time at which certificates must be valid, in milliseconds since 1970. */
  clock: number;
}

/** The policy must accept a file, and its manifest be true. @throws RelcatError for signers that cannot be read */
export async function uploadInspector({ config, catalog, version: release, manifests, clock }: Standard) {
  const evidence = manifests.flatMap((manifest) => evidenceOf(manifest).files ?? []);
  const claimed = new Map<string, Claimed>(evidence.map((each) => [each.name, each]));
  const artifacts = manifests.flatMap(({ value }) => value.artifacts);
  const inspect = await policyInspector(config, catalog, { release, artifacts }, clock);
  return async ({ file, path }: NamedFile, opened: FileWithNeighbours): Promise<Seen | undefined> => {
    const claim = claimed.get(file) ?? { name: file, at: wholeFile(path) };
    const seen = await inspect(claim, opened);
    const stated = claim.finished?.value;
    const type = stated && config.packageTypes.get(stated.package_type);
    if (!seen || !type) return seen;
    const facts = { attestation: attestationOf(seen.inspection, stated.package_type, type) };
    const untrue = contradictions(claim, { attestation: stated.attestation }, facts, true);
    return { ...seen, problems: [...seen.problems, ...untrue] };
  };
}
