import type { CryptolibPost, FileSignature, Inspection } from "../../inspect/inspection.ts";
import type { PackageType } from "../../shared/package-types.ts";
import type { Attestation } from "../documents/attestation.ts";

type WrittenFileSignature = NonNullable<Attestation["file_signatures"]>[number];

/**
 * Attestation fields of the catalog. Keys and signatures are published only if the verdict is `ok`, because
 * other claims are unverified. Images publish only their self-check.
 */
export function attestationOf(
  { verdict, key_id, signature, file_signatures, cryptolib_post }: Inspection,
  packageType: string,
  { kind, operating_system: system }: PackageType,
): Omit<Attestation, "sha256"> {
  const isMacos = system === "macos";
  const post = cryptolib_post && postOf(cryptolib_post, isMacos);
  const selfCheck = post ? { cryptolib_post: post } : {};
  if (kind === "image" || verdict !== "ok") return selfCheck;
  const files = file_signatures.flatMap((file) => signatureOf(file, isMacos));
  return {
    ...(key_id !== null && { key_id }),
    ...(signature && ["rpm", "deb"].includes(packageType) && { signature }),
    ...selfCheck,
    ...(files.length > 0 && { file_signatures: files }),
  };
}

/** The record has no field for one architecture alone, so both are needed. */
function bothOf(values: Readonly<Record<string, string>>): { arm64: string; x86_64: string } | undefined {
  const { arm64, x86_64 } = values;
  return arm64 !== undefined && x86_64 !== undefined ? { arm64, x86_64 } : undefined;
}

function postOf(post: CryptolibPost, isMacos: boolean): Attestation["cryptolib_post"] {
  if ("expected_hash" in post) return isMacos ? undefined : post;
  const both = isMacos ? bothOf(post.expected_hash_per_arch) : undefined;
  return both && { expected_hash_per_arch: both };
}

function signatureOf({ name, verdict, signature }: FileSignature, isMacos: boolean): WrittenFileSignature[] {
  if (verdict !== "ok" || !signature) return [];
  const signer = signature.signer === undefined ? {} : { signer: signature.signer };
  if ("fingerprint" in signature)
    return isMacos ? [] : [{ name, signature: { ...signer, fingerprint: signature.fingerprint } }];
  const both = isMacos ? bothOf(signature.fingerprint_per_arch) : undefined;
  return both ? [{ name, signature: { ...signer, fingerprint_per_arch: both } }] : [];
}
