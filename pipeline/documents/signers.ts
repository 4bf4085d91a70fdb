import { z } from "zod";
import { date, expects, line, list, object, text } from "../../shared/fields.ts";
import { fingerprint } from "./feeds/keys.ts";
import { command } from "./sites.ts";
import { trustProfiles, usualValidDays } from "./trust.ts";

export const signersSchema = list(
  object({
    file: line.describe(
      "OpenPGP or X.509 certificates; relative to the folder of catalog.yaml, such as signers/release.asc.",
    ),
    not_before: date.optional().describe("First day on which their signatures count (UTC)."),
    not_after: date.optional().describe("Last day on which their signatures count (UTC)."),
  }),
);

export interface SignerFile {
  file: string;
  /** Milliseconds since 1970, including the last day; undefined: no bound. */
  notBefore: number | undefined;
  notAfter: number | undefined;
}

/** Environment variable that holds the online key, unless configured otherwise. */
export const usualKey = "RELCAT_ONLINE_KEY";

export const usualOpenPgpKey = "RELCAT_OPENPGP_KEY";

export const usualPackslipKey = "RELCAT_PACKSLIP_KEY";

const variable = object({
  env: text("option-value", /^[A-Za-z_][A-Za-z0-9_]*$/, "a variable's name").describe(
    "Environment variable that contains the key.",
  ),
});
const keyFile = object({
  file: line.describe("File that contains the key, from the project's folder."),
});
const signingProgram = command.describe(
  "Program and arguments: reads bytes on standard input, writes their signature.",
);

/** @param publicKey of the program's key @param name of its value in messages */
const signerWith = (publicKey: z.ZodString, name: string) =>
  z.union(
    [variable, keyFile, object({ exec: signingProgram, public: publicKey })],
    expects("wrong-type", `one of {env: NAME}, {file: PATH} and {exec: [PROGRAM, …], public: ${name}}`),
  );
const base64Key = text("option-value", /^[A-Za-z0-9+/]{43}=$/, "the base64 of an Ed25519 key's 32 bytes");
const signer = signerWith(base64Key.describe("Public key of the program's key."), "KEY");
const openPgpSigner = signerWith(fingerprint.describe("Fingerprint of the program's key."), "FINGERPRINT");

const profile = z.enum(trustProfiles, expects("option-value", `one of ${trustProfiles.join(", ")}`));

const validDays = z.int(expects("option-value", "a number of days from 1 to 90")).min(1).max(90);

export const trustSchema = z.union(
  [
    profile,
    object({
      profile: profile.describe("none: no signatures. simple: one root key. full: two of three root keys."),
      valid_days: validDays
        .optional()
        .describe(
          `Days until a site expires that was not renewed; default: ${usualValidDays.simple}, or ${usualValidDays.full} with full.`,
        ),
      online: signer
        .optional()
        .describe(`Where the online key is; default: the variable ${usualKey}, as PEM.`),
      openpgp: object({
        key: z
          .union([openPgpSigner, list(openPgpSigner)], expects("wrong-type", "a key or a list of keys"))
          .describe("Where the keys are; during a rotation there are two."),
      })
        .optional()
        .describe(
          `The keys that sign package repositories; default: the variable ${usualOpenPgpKey}, in ASCII armor.`,
        ),
      packslip: signer
        .optional()
        .describe(
          `Where the key of the feed packslip is; default: the variable ${usualPackslipKey}, as PEM.`,
        ),
    }),
  ],
  expects("wrong-type", `one of ${trustProfiles.join(", ")}, or an object {profile, valid_days, online, …}`),
);

export type SignerSpec = z.infer<typeof signer>;
export type OpenPgpSignerSpec = z.infer<typeof openPgpSigner>;
