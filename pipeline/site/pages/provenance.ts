import { isObject } from "../../documents/is-object.ts";
import type { WireRecord } from "../../documents/package-record.ts";
import type { SiteConfig } from "../../documents/published.ts";
import type { ArtifactView } from "./page-models.ts";

type Statement = ArtifactView["origin"][number];
type Fields = Readonly<Record<string, unknown>>;

/** Signer and sources of an artifact according to its record: short and in full. */
export function provenanceOf(
  { data }: WireRecord,
  config: SiteConfig,
): Pick<ArtifactView, "origin" | "provenance"> {
  const attestation = objectIn(data.attestation);
  const signature = objectIn(attestation.signature);
  const key = textIn(attestation.key_id);
  const signer = textIn(signature.signer);
  const revision = textIn(objectIn(data[config.wire.vendor]).rev);
  const files = attestation.file_signatures;
  return {
    origin: [
      signedBy(signer, key) ?? { words: "No signature stated", value: "", isHash: false },
      ...statement("Built from source revision", revision, true),
    ],
    provenance: [
      ...statement("Signed by", signer),
      ...statement("Signing key", key, true),
      ...statement("Signature", textIn(signature.display) ?? ((signer ?? key) ? undefined : "none stated")),
      ...statement("Signed inside", Array.isArray(files) ? filesText(files.length) : undefined),
      ...statement("Source revision", revision, true),
      ...statement("Build output", textIn(objectIn(data.store).path), true),
    ],
  };
}

/** Imported records may contain data of any shape; values that do not fit are omitted. */
const objectIn = (value: unknown): Fields => (isObject(value) ? value : {});

const textIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** The key is a fingerprint or the name of an identity. */
function signedBy(signer: string | undefined, key: string | undefined): Statement | undefined {
  if (signer !== undefined) return { words: "Signed by", value: signer, isHash: false };
  if (key === undefined) return undefined;
  const isHash = /^[0-9a-f]+$/i.test(key);
  return { words: isHash ? "Signed with key" : "Signed with", value: key, isHash };
}

const statement = (words: string, value: string | undefined, isHash = false): Statement[] =>
  value === undefined ? [] : [{ words, value, isHash }];

const filesText = (count: number): string => (count === 1 ? "1 file" : `${count} files`);
