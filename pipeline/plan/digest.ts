import type { Config } from "../documents/config.ts";
import { type Plan, planSchema } from "../documents/plan.ts";
import type { IdentifiedRelease } from "../ledger/assign-ids.ts";
import { digest } from "../ledger/ledger.ts";
import type { Release } from "../records/normalize.ts";
import { publicSettings } from "./configuration.ts";

/** Digest over all other members of a plan, independent of white space and key order. */
export function planDigest(plan: Omit<Plan, "digest">): string {
  const { digest: _, ...rest } = planSchema.parse({ ...plan, digest: "0".repeat(64) });
  return digest(JSON.stringify(rest));
}

/** Digests of everything in the plan that affects public content, including private records. */
export function contentDigests(config: Config, releases: readonly IdentifiedRelease[]): Plan["content"] {
  return {
    configuration: digest(JSON.stringify([publicSettings(config), config.expected])),
    releases: Object.fromEntries(releases.map(({ release }) => [release.version, releaseDigest(release)])),
  };
}

function releaseDigest({ version, date, summary, notes, artifacts }: Release): string {
  const files = artifacts.map(({ file, url, size, contentHash, metadata, documents }) => [
    ...[file, url, size, contentHash],
    ...(metadata || documents ? [metadata ?? null, documents ?? null] : []),
  ]);
  return digest(JSON.stringify([version, date, summary, notes, files]));
}
