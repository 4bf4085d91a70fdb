import { z } from "zod";
import type { Code } from "../../shared/errors.ts";
import { expects, id, list, object, text } from "../../shared/fields.ts";
import { rangePattern } from "../../shared/version.ts";

/** Only these can have exceptions: other problems prevent reading, so accepting them would silently drop data. */
export const exceptableRules = [
  "missing-key",
  "unknown-key",
  "wrong-type",
  "text-format",
  "name-format",
  "checksum-format",
  "timestamp-format",
  "date-order",
  "size-range",
  "url-format",
  "os-version-format",
  "package-type-format",
  "revision-format",
  "derivation-format",
  "path-format",
  "key-id-format",
  "hash-format",
  "account-format",
  "foreign-version",
  "revision-unlisted",
  "operating-system-mismatch",
  "platform-mismatch",
  "variant-both",
  "deb-os-range",
  "checksum-mismatch",
  "store-required",
  "vendor-required",
  "attestation-required",
  "store-forbidden",
  "vendor-forbidden",
  "attestation-forbidden",
  "signature-forbidden",
  "hash-per-arch",
  "fingerprint-per-arch",
  "fingerprint-missing",
] as const satisfies readonly Code[];

const exceptionSchema = object({
  rule: z
    .enum(
      exceptableRules,
      expects("option-value", "the code of a rule about records, such as checksum-format"),
    )
    .describe("Code of the rule, as in its error message."),
  versions: text(
    "version-format",
    rangePattern,
    "the first and the last version, such as 25.01.001..26.03.004",
  ).describe("First and last version that broke it."),
  count: id.describe("Maximum number of accepted problems."),
});

/** releases/exceptions.yaml: accepted rule violations of imported records. All other records stay strict. */
export const exceptionsSchema = list(exceptionSchema).meta({ title: "Exceptions" });

export type Exception = z.infer<typeof exceptionSchema>;
