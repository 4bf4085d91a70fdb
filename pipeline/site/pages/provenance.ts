import { isObject } from "../../documents/is-object.ts";
import type { WireRecord } from "../../documents/package-record.ts";
import type { SiteConfig } from "../../documents/published.ts";
import { bytesText } from "./byte-count.ts";
import type { ArtifactView } from "./models/file-models.ts";

type Statement = ArtifactView["provenance"][number];
type Fields = Readonly<Record<string, unknown>>;

/** The key that signed the file itself, as its record states it. */
export const signingKeyOf = ({ data }: WireRecord): string | undefined =>
  textIn(objectIn(data.attestation).key_id);

/** Signer, sources and self-check hash of an artifact according to its record. */
export function provenanceOf({ data }: WireRecord, config: SiteConfig): Statement[] {
  const attestation = objectIn(data.attestation);
  const signature = objectIn(attestation.signature);
  const key = textIn(attestation.key_id);
  const fingerprint = textIn(signature.fingerprint);
  const sources = objectIn(data[config.wire.vendor]);
  const store = objectIn(data.store);
  return [
    ...statement("Signed by", textIn(signature.signer)),
    ...statement("Signing key", key, true),
    ...statement("Signature", textIn(signature.display)),
    ...statement("Fingerprint", fingerprint === key ? undefined : fingerprint, true),
    ...signaturesInside(attestation.file_signatures),
    ...selfCheck(objectIn(attestation[config.wire.cryptolib_post])),
    ...statement("Source revision", textIn(sources.rev), true),
    ...statement("Build recipe", textIn(objectIn(sources.image).drv), true),
    ...statement("Build output", textIn(store.path), true),
    ...statement("Output size", typeof store.size === "number" ? bytesText(store.size) : undefined),
  ];
}

/** The signed files in the artifact with the digests of their signatures, below their signer if one is stated. */
function signaturesInside(files: unknown): Statement[] {
  if (!Array.isArray(files)) return [];
  const bySigner = Map.groupBy(files.map(objectIn), ({ signature }) => textIn(objectIn(signature).signer));
  // Files without a signer come first, so that no other signer is above them.
  const unnamed = bySigner.get(undefined) ?? [];
  bySigner.delete(undefined);
  return [
    ...unnamed.flatMap(signatureInside),
    ...[...bySigner].flatMap(([signer, signed]) => [
      ...statement("Signer inside", signer),
      ...signed.flatMap(signatureInside),
    ]),
  ];
}

function signatureInside({ name, signature }: Fields): Statement[] {
  const { fingerprint, fingerprint_per_arch } = objectIn(signature);
  const digests = [fingerprint, ...Object.entries(objectIn(fingerprint_per_arch)).map(perArchitecture)];
  const parts = [name, ...digests].flatMap((each) => textIn(each) ?? []);
  return parts.length === 0 ? [] : statement("Signed inside", parts.join(" · "));
}

function selfCheck({ expected_hash, expected_hash_per_arch }: Fields): Statement[] {
  const hashes = Object.entries(objectIn(expected_hash_per_arch)).map(perArchitecture);
  return [expected_hash, ...hashes].flatMap((hash) => statement("Self-check hash", textIn(hash), true));
}

const perArchitecture = ([arch, hash]: [string, unknown]): string | undefined => {
  const text = textIn(hash);
  return text && `${arch} ${text}`;
};

/** Imported records may contain data of any shape; values that do not fit are omitted. */
const objectIn = (value: unknown): Fields => (isObject(value) ? value : {});

const textIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

const statement = (words: string, value: string | undefined, isHash = false): Statement[] =>
  value === undefined ? [] : [{ words, value, isHash }];
