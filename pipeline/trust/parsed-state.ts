import type { z } from "zod";
import { failure } from "../../shared/errors.ts";

const restore = "Nothing was changed. Restore the file from a copy of the site, and find out who changed it.";

/** Parses a document that relcat keeps at a site. @throws RelcatError site-tampered */
export function parsedAs<T>(schema: z.ZodType<T>, read: () => Uint8Array, place: string, hint = restore): T {
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder().decode(read()));
  } catch (error) {
    throw unreadable(place, error instanceof Error ? error.message : String(error), hint, error);
  }
  const parsed = schema.safeParse(document);
  if (parsed.success) return parsed.data;
  throw unreadable(place, firstIssue(parsed.error), hint);
}

/** @throws RelcatError site-tampered if a key is a path out of the folder, which relcat never writes */
export function refuseHostilePaths(error: z.ZodError, place: string, hint: string): void {
  if (error.issues[0]?.code !== "invalid_key") return;
  throw failure("site-tampered", `${place} is not what relcat writes: ${firstIssue(error)}`, hint);
}

/** The first error as member and reason. For a wrong key, zod nests the reason one level deeper. */
export function firstIssue({ issues: [issue] }: z.ZodError): string {
  if (issue === undefined) return "";
  const reason = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  const place = issue.code === "invalid_key" ? issue.path.slice(0, -1) : issue.path;
  // Messages have the form `code|text`; only the text is for people.
  return `${place.join(".") || "it"}: ${reason.replace(/^[a-z-]+\|/, "expected ")}`;
}

/** Only relcat writes these documents, so an invalid one is an error of the site. */
const unreadable = (place: string, reason: string, hint: string, cause?: unknown) =>
  failure(
    "site-tampered",
    `${place} is not what relcat writes: ${reason.split("\n", 1)[0]}`,
    hint,
    undefined,
    cause,
  );
