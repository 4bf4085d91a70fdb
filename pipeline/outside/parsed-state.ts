import type { z } from "zod";
import { failure } from "../errors.ts";

/**
 * What relcat keeps at a site, as its schema has it.
 * @param place for the message
 * @throws RelcatError file-access
 */
export function parsedAs<T>(schema: z.ZodType<T>, read: () => Uint8Array, place: string): T {
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder().decode(read()));
  } catch (error) {
    throw unreadable(place, error instanceof Error ? error.message : String(error), error);
  }
  const parsed = schema.safeParse(document);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw unreadable(place, `${issue?.path.join(".") || "it"}: ${issue?.message}`);
}

/** Something that relcat keeps at a site was changed by somebody else. @param place for the message */
const unreadable = (place: string, reason: string, cause?: unknown) =>
  failure(
    "file-access",
    `${place} is not what relcat writes: ${reason.split("\n", 1)[0]}`,
    "Take it back from a copy of the site; without it nobody knows what is published.",
    undefined,
    cause,
  );
