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

/** Nix store path of the build output. */
export const storeSchema = object({
  path: absolutePath.optional().meta({ description: "Filesystem path of the build output." }),
  size: size.optional().meta({ description: "Size of the build output in bytes." }),
});

/** Sources and recipe of an image. */
export const vendorSchema = object({
  rev: revision.optional().meta({ description: "Source revision of the build." }),
  image: object({
    drv: absolutePath.optional().meta({ description: "Path of the build recipe." }),
    derivation: derivation.optional().meta({ description: "Hash part of the build output's store path." }),
  }).optional(),
});

export const cryptolibPostSchema = object({
  expected_hash: upperHash.optional().meta({ description: "Expected self-check hash." }),
  expected_hash_per_arch: architectures(upperHash)
    .optional()
    .meta({ description: "macOS: the expected self-check hash of each architecture." }),
});

const fileSignatureSchema = object({
  name: line.meta({ description: "File name or path inside the package." }),
  signature: object({
    signer: line.optional().meta({ description: "Signer of the file." }),
    fingerprint: line.optional().meta({ description: "Signature value or digest; absent on macOS." }),
    fingerprint_per_arch: architectures(hex).optional().meta({ description: "macOS: one per architecture." }),
  }),
});

/** Signer and self-check hash of an artifact. */
export const attestationSchema = object({
  key_id: keyId
    .optional()
    .meta({ description: "Signing key: 16 hex (rpm), 40 hex (deb, msi), an identity (pkg)." }),
  sha256: sha256.optional().meta({ description: "SHA-256 of the artifact; equals the record's checksum." }),
  signature: object({
    signer: line.optional().meta({ description: "Signer identifier." }),
    display: line.optional().meta({ description: "Readable description of the signature." }),
    fingerprint: line.optional().meta({ description: "Signature value or digest." }),
  })
    .optional()
    .meta({ description: "The package's own signature; rpm and deb only." }),
  cryptolib_post: cryptolibPostSchema.optional(),
  file_signatures: list(fileSignatureSchema)
    .optional()
    .meta({ description: "Signatures of files inside the package." }),
});

export type Store = z.infer<typeof storeSchema>;
export type Vendor = z.infer<typeof vendorSchema>;
export type Attestation = z.infer<typeof attestationSchema>;
