import type { Kind } from "../../documents/package-types.ts";
import type { ByteSource } from "../../system/byte-source.ts";
import { inspectArtifact } from "../inspect.ts";
import type { Inspection, InspectOptions } from "../inspection.ts";

/**
 * As inspectArtifact; of packages and charts also who signed them where their format has no signature: an archive of files is
 * as good as the `.asc` beside it.
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
  const signature = options.beside?.(name);
  if (!signature)
    return {
      ...inspection,
      verdict: "unsigned",
      reason: `${name} is not beside it, expected its signature there`,
    };
  // The very bytes that were looked at, whatever lies under that name by now.
  const beside = (wanted: string) => (wanted === source.name ? source : undefined);
  const { verdict, reason, key_id, signature: by } = await inspectArtifact(signature, { ...options, beside });
  return { ...inspection, verdict, reason, key_id, signature: by };
}
