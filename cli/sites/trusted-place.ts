import { findPlace, type TrustedPlace } from "../../pipeline/index.ts";
import { type Host, say } from "../terminal/host.ts";

export interface TrustOptions {
  root?: string;
  trustFirstUse?: true;
  trustDir?: string;
}

/** Warns that a root from the site itself proves little. */
export async function trustedPlace(word: string, options: TrustOptions, host: Host): Promise<TrustedPlace> {
  const known = await findPlace(host.releases, word, { ...options, environment: host.environment });
  if (known.firstUse) {
    const { fingerprint, isNew } = known.firstUse;
    say(
      host,
      `${isNew ? "Trusting the root that" : "Its first root is still the one that"} ${known.place} ${isNew ? "has itself" : "had at first"}: SHA-256 ${fingerprint}`,
    );
    say(host, "It proves that later visits see the same publisher, but not who that is.");
  }
  return known;
}
