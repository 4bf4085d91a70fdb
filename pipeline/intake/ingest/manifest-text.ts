import { createHash } from "node:crypto";
import { type Manifest, manifestSchema } from "../../documents/manifest.ts";
import { inSchemaOrder } from "./formats/schema-walk.ts";

/** Deterministic: the same artifacts always give the same bytes. */
export const manifestText = (manifest: Manifest): string =>
  `${JSON.stringify(inSchemaOrder(manifest, manifestSchema), null, 2)}\n`;

/**
 * File name of a job's manifest: rebuilding the same artifacts replaces it; other jobs or artifacts get
 * another name.
 */
export function manifestFileName(job: string, { release, artifacts }: Manifest): string {
  const identities = artifacts.map(({ file, name }) => `${release}/${file ?? name}\n`).sort();
  return `${job}-${createHash("sha256").update(identities.join("")).digest("hex").slice(0, 8)}.json`;
}
