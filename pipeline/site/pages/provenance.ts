import { isObject } from "../../documents/is-object.ts";
import type { WireRecord } from "../../documents/package-record.ts";
import type { SiteConfig } from "../../documents/published.ts";
import type { ArtifactView } from "./page-models.ts";

type Statement = ArtifactView["provenance"][number];
type Fields = Readonly<Record<string, unknown>>;

/** The key that signed the file itself, as its record states it. */
export const signingKeyOf = ({ data }: WireRecord): string | undefined =>
  textIn(objectIn(data.attestation).key_id);

/** Signer and sources of an artifact according to its record. */
export function provenanceOf({ data }: WireRecord, config: SiteConfig): Statement[] {
  const attestation = objectIn(data.attestation);
  const signature = objectIn(attestation.signature);
  const files = attestation.file_signatures;
  return [
    ...statement("Signed by", textIn(signature.signer)),
    ...statement("Signing key", textIn(attestation.key_id), true),
    ...statement("Signature", textIn(signature.display)),
    ...statement("Signed inside", Array.isArray(files) ? filesText(files.length) : undefined),
    ...statement("Source revision", textIn(objectIn(data[config.wire.vendor]).rev), true),
    ...statement("Build output", textIn(objectIn(data.store).path), true),
  ];
}

/** Imported records may contain data of any shape; values that do not fit are omitted. */
const objectIn = (value: unknown): Fields => (isObject(value) ? value : {});

const textIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

const statement = (words: string, value: string | undefined, isHash = false): Statement[] =>
  value === undefined ? [] : [{ words, value, isHash }];

const filesText = (count: number): string => (count === 1 ? "1 file" : `${count} files`);
