import type { ByteSource } from "../../inspect/bytes/byte-source.ts";
import { inspectArtifact } from "../../inspect/inspect.ts";
import type { Inspection, InspectOptions } from "../../inspect/inspection.ts";
import type { Kind } from "../../shared/package-types.ts";

/**
 * Like inspectArtifact. An archive has no signature of its own, so its signer is taken from the `.asc` file
 * in the same folder.
 */
export async function inspectPackage(
  source: ByteSource,
  kind: Kind,
  options: Omit<InspectOptions, "limit">,
): Promise<Inspection> {
  const inspection = await inspectArtifact(source, options);
  const isSigned = inspection.key_id !== null;
  if (kind === "image" || inspection.verdict !== "ok" || isSigned) return inspection;
  const name = `${source.name}.asc`;
  const signature = options.openSibling?.(name);
  if (!signature)
    return {
      ...inspection,
      verdict: "unsigned",
      reason: `${name} is not next to it, expected its signature there`,
    };
  // Reuses the open source, because the file on disk may have been replaced meanwhile.
  const openSibling = (wanted: string) => (wanted === source.name ? source : undefined);
  const {
    verdict,
    reason,
    key_id,
    signature: by,
  } = await inspectArtifact(signature, { ...options, openSibling });
  return { ...inspection, verdict, reason, key_id, signature: by };
}
