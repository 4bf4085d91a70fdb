import type { Config } from "../../documents/config.ts";
import { resolveAlias } from "../../documents/package-types.ts";

/**
 * The single package type named by a hint, either the whole hint or one part of a job name such as
 * images.qcow-efi.
 */
export function typeOfHint(hint: string, { packageTypes }: Pick<Config, "packageTypes">): string | undefined {
  const parts = [hint, ...hint.split(".")].map((part) => resolveAlias(part, packageTypes));
  const known = new Set(parts.filter((part) => packageTypes.has(part)));
  return known.size === 1 ? [...known][0] : undefined;
}
