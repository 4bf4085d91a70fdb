import { createHash } from "node:crypto";
import { type Manifest, manifestSchema } from "../../documents/manifest.ts";
import { inSchemaOrder } from "./formats/schema-walk.ts";

/** The bytes of a manifest: the same artifacts always give the same. */
export const manifestText = (manifest: Manifest): string =>
  `${JSON.stringify(inSchemaOrder(manifest, manifestSchema), null, 2)}\n`;

/**
 * The file name of a job's manifest: two jobs, or one job with other artifacts, never share it; the same
 * artifacts built again replace it.
 */
export function manifestFileName(job: string, { release, artifacts }: Manifest): string {
  const identities = artifacts.map(({ file, name }) => `${release}/${file ?? name}\n`).sort();
  return `${job}-${createHash("sha256").update(identities.join("")).digest("hex").slice(0, 8)}.json`;
}
