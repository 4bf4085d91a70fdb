import { z } from "zod";
import type { Code } from "./errors.ts";
import { boundPattern, versionPattern } from "./version.ts";

/**
 * Error of a field as code and expectation. The document reader splits it and adds the found value, so all
 * fields of a kind have the same message.
 */
export const expects = (code: Code, expected: string) => ({ error: `${code}|${expected}` });

export const text = (code: Code, pattern: RegExp, expected: string) =>
  z.string(expects(code, expected)).regex(pattern, expects(code, expected));

export const version = text(
  "version-format",
  versionPattern,
  "a version YY.MM.NNN with a month from 01 to 12, such as 26.08.002",
);

export const channelName = text(
  "option-value",
  /^[a-z][a-z0-9-]{0,15}$/,
  "a name of at most 16 lowercase letters, digits and dashes, such as beta",
);

export const versionBound = text(
  "version-format",
  boundPattern,
  'a month "YY.MM" or a version YY.MM.NNN, in quotes',
);

export const date = z.iso.date(expects("date-format", "a calendar date YYYY-MM-DD"));

/** ISO 8601 in UTC with microseconds and `Z`. */
export const timestamp = text(
  "timestamp-format",
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/,
  "a UTC timestamp with six decimals, such as 2026-08-19T10:22:31.123456Z",
);

export const sha256 = text("checksum-format", /^[0-9a-f]{64}$/, "64 lowercase hexadecimal characters");

/** "unknown" is allowed for imported records without a checksum. */
export const checksum = text(
  "checksum-format",
  /^(?:[0-9a-f]{64}|unknown)$/,
  "64 lowercase hexadecimal characters",
);

export const upperHash = text("hash-format", /^[0-9A-F]{64}$/, "64 uppercase hexadecimal characters");

export const hex = text("hash-format", /^[0-9A-Fa-f]+$/, "hexadecimal characters");

export const revision = text("revision-format", /^[0-9a-f]{40}$/, "40 lowercase hexadecimal characters");

/** Hash part of a store path: 32 characters of Nix's base-32 alphabet (no e, o, t, u). */
export const derivation = text(
  "derivation-format",
  /^[0-9a-df-np-sv-z]{32}$/,
  "32 characters of Nix base-32 (digits and lowercase letters without e, o, t, u)",
);

export const absolutePath = text("path-format", /^\/[^\p{Cc}\p{Cs}]+$/u, "an absolute path");

/** A file name or label that is valid in a checksum file, a header and a URL segment. */
export const name = text(
  "name-format",
  /^(?!\.{1,2}$)[^/\\\p{Cc}\p{Cs}]{1,255}$/u,
  "1 to 255 characters without slash, backslash or control characters, not . or ..",
);

/** Excludes lone surrogates, which UTF-8 cannot encode. */
export const freeText = z
  .string(expects("text-format", "text"))
  .regex(/^[^\p{Cs}]*$/u, expects("text-format", "text without halves of surrogate pairs"));

export const line = text(
  "text-format",
  /^[^\p{Cc}\p{Cs}]+$/u,
  "one line of text, not empty and without control characters",
);

/** A name that file names are made from. */
export const title = text(
  "text-format",
  /^(?!\s+$)[^\p{Cc}\p{Cs}]{1,100}$/u,
  "one line of at most 100 characters, not only spaces",
);

export const size = z
  .number(expects("size-range", "a whole number of bytes"))
  .int(expects("size-range", "a whole number of bytes below 2^53"))
  .min(0, expects("size-range", "a whole number of bytes, 0 or more"));

/** http or https, without credentials and white space. */
export const url = text(
  "url-format",
  /^https?:\/\/[^\s/?#@\\\p{Cc}]+(?:[/?#][^\s\p{Cc}\p{Cs}]*)?$/u,
  "an http or https URL without credentials",
);

export const osVersion = text(
  "os-version-format",
  /^[0-9A-Za-z][0-9A-Za-z._-]{0,31}$/,
  'a version of 1 to 32 letters, digits, dots, dashes, underscores, in quotes, such as "22.04"',
);

export const packageType = text(
  "package-type-format",
  /^(?!index$)[a-z0-9][a-z0-9-]{0,31}$/,
  "1 to 32 lowercase letters, digits and dashes, but not index, as pages are called",
);

export const keyId = text("key-id-format", /^[^\p{Cc}\p{Cs}]{1,255}$/u, "1 to 255 characters");

/** Positive; 0 is never assigned. */
export const id = z
  .int(expects("wrong-type", "a positive whole number"))
  .min(1, expects("wrong-type", "a positive whole number"));

export const flag = z.boolean(expects("wrong-type", "true or false"));

/** Account that may see a record: text or a number; null: public. */
export const account = z.union(
  [z.null(), line, z.int()],
  expects("account-format", "null, a non-empty text or a whole number"),
);

export const architectures = <T extends z.ZodType>(each: T) =>
  z.strictObject({ arm64: each, x86_64: each }, expects("wrong-type", "an object with arm64 and x86_64"));

export const object = <T extends z.core.$ZodLooseShape>(shape: T) =>
  z.strictObject(shape, expects("wrong-type", "an object"));

/**
 * Allows and keeps unknown members at every depth, because later versions of relcat may add some to a site's
 * documents. Authored files stay strict.
 */
export function opened<T extends z.ZodType>(schema: T): T {
  const inside = (each: unknown) => (each instanceof z.ZodType ? opened(each) : each);
  const { def } = schema._zod as unknown as { def: Record<string, unknown> };
  const inner = Object.entries(def).map(([key, value]) => {
    if (Array.isArray(value)) return [key, key === "options" ? value.map(inside) : value];
    if (key === "shape") return [key, mapped(value as object, inside)];
    return [key, inside(value)];
  });
  const open = {
    ...def,
    ...Object.fromEntries(inner),
    ...(def.type === "object" && { catchall: z.unknown() }),
  };
  return schema.clone(open as never, { parent: true }) as T;
}

const mapped = (values: object, change: (value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));

export const list = <T extends z.ZodType>(each: T) => z.array(each, expects("wrong-type", "a list"));

export const table = <T extends z.ZodType>(each: T, what = "an object") =>
  z.record(z.string(), each, expects("wrong-type", what));

export const tableBy = <T extends z.ZodType>(key: z.ZodType<string, string>, each: T) =>
  z.record(key, each, expects("wrong-type", "an object"));
