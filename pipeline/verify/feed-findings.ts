import { sha256 } from "../trust/metadata.ts";
import type { SignedDocuments } from "./documents.ts";
import type { Finding } from "./finding.ts";
import type { SiteReader } from "./stores/site-reader.ts";

/**
 * Faults in the OpenPGP signatures of apt and yum repositories. Files that differ from the signed lists are left to the
 * comparison of files.
 * @param now milliseconds since 1970
 */
export async function feedFindings(
  site: SiteReader,
  { listed }: SignedDocuments,
  now: number,
): Promise<Finding[]> {
  if (!Object.keys(listed).some((path) => /^(?:dists|yum)\//.test(path))) return [];
  // OpenPGP is loaded only for sites that have such repositories.
  const { feedFaults } = await import("../trust/feeds/verify-feeds.ts");
  const read = async (path: string) => {
    const known = Object.hasOwn(listed, path) ? listed[path] : undefined;
    if (!known) return undefined;
    const { status, bytes } = await site.read(path, known.size + 1024 * 1024);
    return status === 200 && sha256(bytes) === known.sha256 ? bytes : undefined;
  };
  const faults = await feedFaults({ listed, read, now });
  return faults.map(({ path, what, hasEnded }) => ({ path, what, ...(hasEnded && { ended: true }) }));
}
