import { display } from "../project/display.ts";
import { type ArtifactRule, error } from "./report.ts";

/** An attestation copied from another build would vouch for other bytes. */
const checksumAgrees: ArtifactRule = function* ({ artifact, place }) {
  const attested = artifact.attestation?.sha256;
  if (attested === undefined || attested === artifact.sha256) return;
  const message = `attestation.sha256 is ${attested}, expected the artifact's ${artifact.sha256}`;
  yield error(
    "checksum-mismatch",
    place(["attestation", "sha256"]),
    message,
    "Attest the file people download.",
  );
};

/** An image is attested only by its self-check hash. */
const imagesAttestSelfCheckOnly: ArtifactRule = function* ({ artifact, type, place }) {
  if (type?.kind !== "image") return;
  for (const key of Object.keys(artifact.attestation ?? {})) {
    if (key === "cryptolib_post") continue;
    const message = `attestation.${key} is set on an image, expected cryptolib_post alone`;
    yield error("attestation-forbidden", place(["attestation", key], "key"), message, "Remove it.");
  }
};

const signatureOfLinuxPackages: ArtifactRule = function* ({ artifact, type, place }) {
  if (!type || artifact.attestation?.signature === undefined) return;
  if (["rpm", "deb"].includes(artifact.package_type)) return;
  const message = `attestation.signature is set on ${display(artifact.package_type)}, expected on rpm and deb only`;
  yield error(
    "signature-forbidden",
    place(["attestation", "signature"], "key"),
    message,
    "Remove it; key_id and file_signatures stay.",
  );
};

const keyIds = new Map([
  ["rpm", { pattern: /^[0-9a-f]{16}$/, expected: "16 lowercase hexadecimal characters for an rpm" }],
  ["deb", { pattern: /^[0-9a-f]{40}$/, expected: "40 lowercase hexadecimal characters for a deb" }],
  ["msi", { pattern: /^[0-9a-f]{40}$/, expected: "40 lowercase hexadecimal characters for an msi" }],
]);

/** Only these types have a fixed format; key ids of other types are free text. */
const keyIdOfType: ArtifactRule = function* ({ artifact, place }) {
  const keyId = artifact.attestation?.key_id;
  const rule = keyIds.get(artifact.package_type);
  if (keyId === undefined || !rule || rule.pattern.test(keyId)) return;
  const message = `attestation.key_id is ${display(keyId)}, expected ${rule.expected}`;
  yield error(
    "key-id-format",
    place(["attestation", "key_id"]),
    message,
    "Take it from the package's own signature.",
  );
};

/** macOS files contain several architectures, so there is one hash for each; elsewhere there is one hash. */
const selfCheckHashOfSystem: ArtifactRule = function* ({ artifact, type, place }) {
  const post = artifact.attestation?.cryptolib_post;
  if (!post || !type) return;
  const macos = type.operating_system === "macos";
  const [wanted, other] = macos
    ? (["expected_hash_per_arch", "expected_hash"] as const)
    : (["expected_hash", "expected_hash_per_arch"] as const);
  const path = ["attestation", "cryptolib_post"];
  const where = macos ? "on macOS" : `on ${type.operating_system}`;
  if (post[other] !== undefined) {
    yield error(
      "hash-per-arch",
      place([...path, other], "key"),
      `${other} is set ${where}, expected ${wanted}`,
      `Use ${wanted}.`,
    );
  }
  if (post[wanted] === undefined) {
    yield error(
      "hash-per-arch",
      place(path),
      `${wanted} is missing, expected ${where}`,
      "Give the hash, or leave cryptolib_post out.",
    );
  }
};

const fingerprintsOfSystem: ArtifactRule = function* ({ artifact, type, place }) {
  if (!type) return;
  const macos = type.operating_system === "macos";
  const [wanted, other] = macos
    ? (["fingerprint_per_arch", "fingerprint"] as const)
    : (["fingerprint", "fingerprint_per_arch"] as const);
  for (const [index, { name, signature }] of (artifact.attestation?.file_signatures ?? []).entries()) {
    const path = ["attestation", "file_signatures", index, "signature"];
    if (signature[other] !== undefined) {
      yield error(
        "fingerprint-per-arch",
        place([...path, other], "key"),
        `${other} is set ${macos ? "on" : "outside"} macOS, expected ${wanted}`,
        macos ? "Give one per architecture." : "Use fingerprint.",
      );
    }
    if (signature[wanted] === undefined) {
      yield error(
        macos ? "fingerprint-per-arch" : "fingerprint-missing",
        place(path),
        `${display(name)} lacks ${wanted}, expected on ${macos ? "macOS" : "every signed file"}`,
        "Leave unsigned files out of file_signatures.",
      );
    }
  }
};

export const attestationRules: readonly ArtifactRule[] = [
  checksumAgrees,
  imagesAttestSelfCheckOnly,
  signatureOfLinuxPackages,
  keyIdOfType,
  selfCheckHashOfSystem,
  fingerprintsOfSystem,
];
