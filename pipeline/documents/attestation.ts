import type { z } from "zod";
import {
  absolutePath,
  architectures,
  derivation,
  hex,
  keyId,
  line,
  list,
  object,
  revision,
  sha256,
  size,
  upperHash,
} from "../../shared/fields.ts";

export const storeSchema = object({
  path: absolutePath.optional().describe("Filesystem path of the build output."),
  size: size.optional().describe("Size of the build output in bytes."),
});

export const vendorSchema = object({
  rev: revision.optional().describe("Source revision of the build."),
  image: object({
    drv: absolutePath.optional().describe("Path of the build recipe."),
    derivation: derivation.optional().describe("Hash part of the build output's store path."),
  }).optional(),
});

export const cryptolibPostSchema = object({
  expected_hash: upperHash.optional().describe("Expected self-check hash."),
  expected_hash_per_arch: architectures(upperHash)
    .optional()
    .describe("macOS: the expected self-check hash of each architecture."),
});

const fileSignatureSchema = object({
  name: line.describe("File name or path inside the package."),
  signature: object({
    signer: line.optional().describe("Signer of the file."),
    fingerprint: line.optional().describe("Signature value or digest; absent on macOS."),
    fingerprint_per_arch: architectures(hex).optional().describe("macOS: one per architecture."),
  }),
});

export const attestationSchema = object({
  key_id: keyId.optional().describe("Signing key: 16 hex (rpm), 40 hex (deb, msi), an identity (pkg)."),
  sha256: sha256.optional().describe("SHA-256 of the artifact; equals the record's checksum."),
  signature: object({
    signer: line.optional().describe("Signer identifier."),
    display: line.optional().describe("Readable description of the signature."),
    fingerprint: line.optional().describe("Signature value or digest."),
  })
    .optional()
    .describe("The package's own signature; rpm and deb only."),
  cryptolib_post: cryptolibPostSchema.optional(),
  file_signatures: list(fileSignatureSchema).optional().describe("Signatures of files inside the package."),
});

export type Store = z.infer<typeof storeSchema>;
export type Vendor = z.infer<typeof vendorSchema>;
export type Attestation = z.infer<typeof attestationSchema>;
