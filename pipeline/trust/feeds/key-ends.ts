import type { FeedKey } from "../../documents/feeds/keys.ts";
import { dateOf } from "../roles.ts";
import { parsedCertificate } from "./certificates.ts";

/** A key of package repositories, and its end. */
export interface FeedKeyEnd extends Omit<FeedKey, "armored"> {
  /** null: it does not end. */
  ends: string | null;
}

/** @throws RelcatError feed-key */
export const feedKeyEnds = (keys: readonly FeedKey[]): Promise<FeedKeyEnd[]> =>
  Promise.all(
    keys.map(async (key) => {
      const { fingerprint, state, since } = key;
      const { ends } = await parsedCertificate(key);
      return { fingerprint, state, since, ends: Number.isFinite(ends) ? dateOf(ends) : null };
    }),
  );
