import { z } from "zod";
import { sha256 } from "../../../shared/fields.ts";
import { feedKeyStates, fingerprint } from "../feeds/keys.ts";
import { count, document, flag, list, object, oneOf, type Result, text, texts } from "./members.ts";

const keyState = {
  fingerprint: fingerprint.describe("Fingerprint of the key."),
  state: oneOf(feedKeyStates, "announced: clients learn it; signing: it signs; retired: no longer offered."),
  since: text("Time at which it entered this state."),
};

export const feedKey = object({
  ...keyState,
  ends: text("Time at which the key ends; null: it does not.").nullable(),
});

const files = {
  written: texts("Files to commit."),
  keys: texts("New private keys."),
};

const trustChange = {
  ...files,
  missing: object({
    root: count("Number of root keys that must still sign."),
    targets: flag("Whether the targets key must still sign."),
  }).describe("Signatures that are still missing."),
};

const packslipKey = {
  key_id: text("Id of the key, as minisign prints it."),
  public: text("The public key, in the form that mise expects."),
};

export const trust = {
  "trust-init": document("Keys that were created.", trustChange),
  "trust-rotate": document("A key that was replaced.", trustChange),
  "trust-sign": document("Metadata that was signed.", trustChange),
  "trust-openpgp": document("A key of package repositories, with --openpgp or the role openpgp.", {
    ...keyState,
    ...files,
  }),
  "trust-packslip": document("The key of the feed packslip, with --packslip.", {
    ...packslipKey,
    ...files,
  }),
  "trust-list": document("Trusted keys, and when their metadata expires.", {
    roles: list(
      object({
        role: text("Name of the role."),
        version: count("Version of its metadata."),
        threshold: count("Number of keys that must sign."),
        keys: texts("Ids of its keys."),
        expires: text("Time of expiry."),
        days_left: z.int().describe("Whole days until then; negative after it."),
      }),
      "Roles of the newest root.",
    ),
    pending: count("Version of the root that waits for signatures; absent if none does.").optional(),
    openpgp: list(feedKey, "Keys of package repositories."),
    packslip: object(packslipKey)
      .nullable()
      .describe("The key of the feed packslip, which users pin; null: there is none."),
  }),
  sign: document("Signatures that were added to a build.", {
    out: text("Folder of the site."),
    build: sha256.describe("Id of the build: the SHA-256 of its build.json."),
    written: count("Number of files that were written."),
    unchanged: count("Number of files that were already there."),
    removed: count("Number of files that were removed."),
    expires: text("Time at which the first signature expires."),
  }),
};

export type TrustDelivery = Result<(typeof trust)["trust-init"]>;
export type FeedKeyDelivery = Result<(typeof trust)["trust-openpgp"]>;
type TrustList = Result<(typeof trust)["trust-list"]>;
export type TrustedRole = Omit<TrustList["roles"][number], "days_left">;
export type FeedKeyEnd = TrustList["openpgp"][number];
export type SignDelivery = Omit<Result<typeof trust.sign>, "out">;
