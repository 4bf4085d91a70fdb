import type { PublishedRelease, SiteConfig } from "../../documents/published.ts";
import { signatureNamespace, signerOf } from "../../documents/trust.ts";
import { shellWord } from "../../project/shell-word.ts";
import type { PageModel } from "./page-models.ts";

/**
 * Lines that check who released a version, and the signed files for them.
 * @returns null where nothing is signed: without keys, and in a preview
 */
export function evidenceView(
  { version, provisional }: PublishedRelease,
  { trust, builder, baseUrl, authority }: SiteConfig,
): PageModel<"release">["evidence"] {
  if (trust.profile === "none" || trust.rootDigest === "" || provisional) return null;
  const [site, release] = [shellWord(baseUrl), shellWord(`${baseUrl}/releases/${version}`)];
  return {
    version,
    root: trust.rootDigest,
    signer: shellWord(signerOf(authority)),
    namespace: signatureNamespace,
    site,
    release,
    files: [
      { href: "SHA256SUMS", text: "SHA256SUMS" },
      { href: "SHA256SUMS.sig", text: "SHA256SUMS.sig" },
      { href: "../../allowed_signers", text: "allowed_signers" },
      { href: "../../metadata/1.root.json", text: "1.root.json" },
      ...(builder ? [{ href: "provenance.json", text: "provenance.json" }] : []),
    ],
  };
}
