import { z } from "zod";
import { expects, list, object, text } from "../../../shared/fields.ts";
import { armored, dearmored } from "../../../shared/openpgp-armor.ts";

/** In the order of a rotation. An announced key signs nothing yet; a retired one is not offered to clients. */
export const feedKeyStates = ["announced", "signing", "retired"] as const;
export type FeedKeyState = (typeof feedKeyStates)[number];

export const fingerprint = text("key-id-format", /^[0-9A-F]{40}$/, "40 uppercase hexadecimal characters");

/** `releases/trust/openpgp/keys.json`: the oldest key first. */
export const feedKeysSchema = object({
  schema_version: z.literal(1, expects("option-value", "1")),
  keys: list(
    object({
      fingerprint,
      state: z.enum(feedKeyStates, expects("option-value", `one of ${feedKeyStates.join(", ")}`)),
      since: text(
        "timestamp-format",
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
        "a UTC time such as 2026-09-14T08:00:00Z",
      ),
    }),
  ),
});
export type FeedKeysDocument = z.infer<typeof feedKeysSchema>;

/** A listed key, and its certificate in ASCII armor. */
export type FeedKey = FeedKeysDocument["keys"][number] & { armored: string };

/** Folder of keys.json and of `FINGERPRINT.asc`, below the releases folder. */
export const feedKeysFolder = "trust/openpgp";

export const certificateTitle = "PGP PUBLIC KEY BLOCK";

/** Certificates that are not retired, as one armored block, because some programs read only the first block of a file. */
export function feedKeyring(keys: readonly FeedKey[]): string {
  const offered = keys.filter(({ state }) => state !== "retired");
  const packets = offered.flatMap((key) => dearmored(certificateTitle, key.armored));
  return packets.length === 0 ? "" : armored(certificateTitle, Buffer.concat(packets));
}
