import { z } from "zod";
import type { WireRecord } from "../documents/package-record.ts";
import type { SiteConfig } from "../documents/published.ts";
import type { ArtifactView } from "./page-models.ts";

type Statement = ArtifactView["origin"][number];

/** Imported records may carry data of any shape: what does not fit is not shown. */
const text = z.string().min(1).optional().catch(undefined);
const attested = z.object({
  key_id: text,
  signature: z.object({ signer: text, display: text }).optional().catch(undefined),
  file_signatures: z.array(z.unknown()).optional().catch(undefined),
});
const stored = z.object({ path: text });
const revised = z.object({ rev: text });

/** Who signed an artifact and what it was built from, as its record states it: in short, and in full. */
export function provenanceOf(
  { data }: WireRecord,
  config: SiteConfig,
): Pick<ArtifactView, "origin" | "provenance"> {
  const { key_id, signature, file_signatures } = attested.safeParse(data.attestation).data ?? {};
  const signer = signature?.signer;
  const revision = revised.safeParse(data[config.wire.vendor]).data?.rev;
  return {
    origin: [
      signedBy(signer, key_id) ?? { words: "No signature stated", value: "", isHash: false },
      ...said("Built from source revision", revision, true),
    ],
    provenance: [
      ...said("Signed by", signer),
      ...said("Signing key", key_id, true),
      ...said("Signature", signature?.display ?? ((signer ?? key_id) ? undefined : "none stated")),
      ...said("Signed inside", file_signatures && filesText(file_signatures.length)),
      ...said("Source revision", revision, true),
      ...said("Build output", stored.safeParse(data.store).data?.path, true),
    ],
  };
}

/** A key may be a fingerprint, or the name of an identity. */
function signedBy(signer: string | undefined, key: string | undefined): Statement | undefined {
  if (signer !== undefined) return { words: "Signed by", value: signer, isHash: false };
  if (key === undefined) return undefined;
  const isHash = /^[0-9a-f]+$/i.test(key);
  return { words: isHash ? "Signed with key" : "Signed with", value: key, isHash };
}

const said = (words: string, value: string | undefined, isHash = false): Statement[] =>
  value === undefined ? [] : [{ words, value, isHash }];

const filesText = (count: number): string => (count === 1 ? "1 file" : `${count} files`);
