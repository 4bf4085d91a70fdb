import { basename } from "node:path/posix";
import type { Settings } from "../../documents/config.ts";
import { pathInfo } from "../../system/input-files.ts";
import { ruleFor } from "./rules.ts";

/**
 * The file that a detached signature covers; undefined: not a signature, or an artifact itself. The provenance
 * of a chart is always read, other signatures only if there are signers.
 */
export function signedFileOf(
  path: string,
  config: Pick<Settings, "policies" | "ingest">,
): string | undefined {
  const signed = path.replace(/\.(?:asc|prov)$/, "");
  const isProvenance = path.endsWith(".prov");
  const isRead =
    (isProvenance || config.policies.size > 0) && signed !== path && !ruleFor(basename(path), config);
  return isRead && pathInfo(signed).kind === "file" ? basename(signed) : undefined;
}
