import type { z } from "zod";
import { sha256 } from "../../../shared/fields.ts";
import { architecture } from "../../../shared/package-metadata.ts";
import { isObject } from "../../documents/is-object.ts";
import { artifactSchema, type WrittenArtifact } from "../../documents/manifest.ts";

/** Fields of a manifest's artifact, all optional: for sidecars, rules and --set. */
export const fieldsSchema = artifactSchema
  .omit({ verbatim: true, absent: true, inspected: true, package: true, documents: true })
  .extend({ sha256, arch: architecture })
  .partial()
  .meta({ title: "Fields of an artifact" });
/** Only a finished manifest contains what its own ingest read from the bytes. */
export type Fields = z.infer<typeof fieldsSchema> &
  Pick<WrittenArtifact, "inspected" | "package" | "documents">;

/** Merges objects recursively; lists are replaced. */
export function overlay<T extends object>(under: T, over: object): T {
  const result = { ...under } as Record<string, unknown>;
  for (const [key, value] of Object.entries(over)) {
    const below = result[key];
    if (value !== undefined) result[key] = isObject(value) && isObject(below) ? overlay(below, value) : value;
  }
  return result as T;
}
