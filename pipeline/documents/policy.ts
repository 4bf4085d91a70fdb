import { z } from "zod";
import { expects, line, list, object, text } from "../../shared/fields.ts";

/** Never acceptable: damaged, forged or forgeable artifacts, and revoked keys. */
const acceptable = [
  "ok",
  "unsigned",
  "adhoc",
  "untrusted-key",
  "expired-certificate",
  "unsupported-format",
] as const;

export const policySchema = z.record(
  z.string(),
  object({
    verdict: list(z.enum(acceptable, expects("option-value", `one of ${acceptable.join(", ")}`)))
      .optional()
      .describe("Accepted verdicts; default: only ok."),
    self_check: line
      .optional()
      .describe("File inside that must contain the self-check hash; * matches any name."),
    unsigned: list(line)
      .optional()
      .describe("Executables inside that may be unsigned, as relcat inspect prints them."),
  }),
  expects("wrong-type", "an object of package_type: {verdict, self_check, unsigned}"),
);

export const versionMapSchema = z.record(
  z.string(),
  text(
    "option-value",
    /^(?:\{(?:YY|MM?|N|NNN)\}|[A-Za-z0-9.+~_-])+$/,
    "a version with placeholders, such as {YY}.{M}.{N} or {YY}.{MM}.{NNN}",
  ),
  expects("wrong-type", 'an object of package_type: "{YY}.{M}.{N}"'),
);

export interface Policy {
  verdict: readonly string[];
  selfCheck: string | undefined;
  unsigned: readonly string[];
  /** Allowed versions inside the package, with placeholders for parts of the release's version. */
  versions: readonly string[];
}

/** Result of a build job's inspection, and its policy: a claim by the author of the manifest. */
export const inspectedSchema = object({
  verdict: line.describe("Verdict of relcat inspect."),
  key_id: line.nullable().describe("Key of the signer; null if unsigned."),
  policy: text("checksum-format", /^[0-9a-f]{64}$/, "64 lowercase hexadecimal characters").describe(
    "SHA-256 of the signers and the policy that were applied.",
  ),
});

export type Inspected = z.infer<typeof inspectedSchema>;
