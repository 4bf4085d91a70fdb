import { feedKeyring } from "../../documents/feeds/keys.ts";
import { certificatePath, keysPath } from "../../documents/feeds/signing.ts";
import type { OutputFile, OutputGroup, SiteConfig } from "../../documents/published.ts";
import { digestOf } from "../../journal/digest.ts";
import { textFile } from "../output.ts";

/** The certificates that clients of apt and yum repositories get: together, and each under its fingerprint. */
export function keyGroup({ product, feedKeys }: Pick<SiteConfig, "product" | "feedKeys">): OutputGroup {
  return { name: "feed keys", key: digestOf(product, feedKeys), files: keyFiles({ product, feedKeys }) };
}

function* keyFiles({ product, feedKeys }: Pick<SiteConfig, "product" | "feedKeys">): Generator<OutputFile> {
  const offered = feedKeys.filter(({ state }) => state !== "retired");
  if (offered.length === 0) return;
  for (const { fingerprint, armored } of offered) yield textFile(certificatePath(fingerprint), armored);
  yield textFile(keysPath(product), feedKeyring(feedKeys));
}
