import { z } from "zod";
import { date, expects, line, list, object, text } from "../../shared/fields.ts";
import { fingerprint } from "./feeds/keys.ts";
import { command } from "./sites.ts";
import { trustProfiles, usualValidDays } from "./trust.ts";

/** Certificates allowed to sign artifacts. */
export const signersSchema = list(
  object({
    file: line.meta({
      description:
        "OpenPGP or X.509 certificates; relative to the folder of catalog.yaml, such as signers/release.asc.",
    }),
    not_before: date.optional().meta({ description: "First day on which their signatures count (UTC)." }),
    not_after: date.optional().meta({ description: "Last day on which their signatures count (UTC)." }),
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

/** Environment variable that holds the OpenPGP keys, unless configured otherwise. */
export const usualOpenPgpKey = "RELCAT_OPENPGP_KEY";

/** Environment variable that holds the key of packslip, unless configured otherwise. */
export const usualPackslipKey = "RELCAT_PACKSLIP_KEY";

const variable = object({
  env: text("option-value", /^[A-Za-z_][A-Za-z0-9_]*$/, "a variable's name").meta({
    description: "Environment variable that contains the key.",
  }),
});
const keyFile = object({
  file: line.meta({ description: "File that contains the key, from the project's folder." }),
});
const signingProgram = command.meta({
  description: "Program and arguments: reads bytes on standard input, writes their signature.",
});

const signer = z.union(
  [
    variable,
    keyFile,
    object({
      exec: signingProgram,
      public: text("option-value", /^[A-Za-z0-9+/]{43}=$/, "the base64 of an Ed25519 key's 32 bytes").meta({
        description: "Public key of the program's key.",
      }),
    }),
  ],
  expects("wrong-type", "one of {env: NAME}, {file: PATH} and {exec: [PROGRAM, …], public: KEY}"),
);

const openPgpSigner = z.union(
  [
    variable,
    keyFile,
    object({
      exec: signingProgram,
      public: fingerprint.meta({ description: "Fingerprint of the program's key." }),
    }),
  ],
  expects("wrong-type", "one of {env: NAME}, {file: PATH} and {exec: [PROGRAM, …], public: FINGERPRINT}"),
);

const profile = z.enum(trustProfiles, expects("option-value", `one of ${trustProfiles.join(", ")}`));

const validDays = z.int(expects("option-value", "a number of days from 1 to 90")).min(1).max(90);

/** Whether and how the site is signed. */
export const trustSchema = z.union(
  [
    profile,
    object({
      profile: profile.meta({
        description: "none: no signatures. simple: one root key. full: two of three root keys.",
      }),
      valid_days: validDays.optional().meta({
        description: `Days until a site expires that was not renewed; default: ${usualValidDays.simple}, or ${usualValidDays.full} with full.`,
      }),
      online: signer.optional().meta({
        description: `Where the online key is; default: the variable ${usualKey}, as PEM.`,
      }),
      openpgp: object({
        key: z
          .union([openPgpSigner, list(openPgpSigner)], expects("wrong-type", "a key or a list of keys"))
          .meta({ description: "Where the keys are; during a rotation there are two." }),
      })
        .optional()
        .meta({
          description: `The keys that sign package repositories; default: the variable ${usualOpenPgpKey}, in ASCII armor.`,
        }),
      packslip: signer.optional().meta({
        description: `Where the key of the feed packslip is; default: the variable ${usualPackslipKey}, as PEM.`,
      }),
    }),
  ],
  expects("wrong-type", `one of ${trustProfiles.join(", ")}, or an object {profile, valid_days, online, …}`),
);

export type SignerSpec = z.infer<typeof signer>;
export type OpenPgpSignerSpec = z.infer<typeof openPgpSigner>;
