import { basename } from "node:path/posix";
import type { Config } from "../../documents/config.ts";
import { lookAt } from "../../system/input-files.ts";
import { ruleFor } from "./rules.ts";

/** The file that a signature on its own is of, where signatures are read; undefined: it is none, or an artifact itself. */
export function signedBeside(path: string, config: Pick<Config, "policies" | "ingest">): string | undefined {
  const signed = path.replace(/\.(?:asc|prov)$/, "");
  const isRead = config.policies.size > 0 && signed !== path && !ruleFor(basename(path), config);
  return isRead && lookAt(signed).kind === "file" ? basename(signed) : undefined;
}
