import { date, line, list, object } from "./fields.ts";

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
