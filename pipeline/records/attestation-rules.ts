import { display } from "../project/display.ts";
import { type ArtifactRule, error } from "./report.ts";

/** An attestation copied from another build would vouch for other bytes. */
const checksumAgrees: ArtifactRule = function* ({ artifact, place }) {
  const attested = artifact.attestation?.sha256;
  if (attested === undefined || attested === artifact.sha256) return;
  const message = `attestation.sha256 is ${attested}, expected the artifact's ${artifact.sha256}`;
  const at = place(["attestation", "sha256"]);
  yield error("checksum-mismatch", at, message, "Attest the file people download.");
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
  const hint = "Remove it; key_id and file_signatures stay.";
  yield error("signature-forbidden", place(["attestation", "signature"], "key"), message, hint);
};

/** Only these types have a fixed format; key ids of other types are free text. */
const keyIds = new Map([
  ["rpm", { digits: 16, noun: "an rpm" }],
  ["deb", { digits: 40, noun: "a deb" }],
  ["msi", { digits: 40, noun: "an msi" }],
]);

const keyIdOfType: ArtifactRule = function* ({ artifact, place }) {
  const keyId = artifact.attestation?.key_id;
  const rule = keyIds.get(artifact.package_type);
  if (keyId === undefined || !rule || (/^[0-9a-f]+$/.test(keyId) && keyId.length === rule.digits)) return;
  const message = `attestation.key_id is ${display(keyId)}, expected ${rule.digits} lowercase hexadecimal characters for ${rule.noun}`;
  const hint = "Take it from the package's own signature.";
  yield error("key-id-format", place(["attestation", "key_id"]), message, hint);
};

/** macOS files contain several architectures, so there is one hash for each; elsewhere there is one hash. */
const selfCheckHashOfSystem: ArtifactRule = function* ({ artifact, type, place }) {
  const post = artifact.attestation?.cryptolib_post;
  if (!post || !type) return;
  const isMacos = type.operating_system === "macos";
  const fields = ["expected_hash", "expected_hash_per_arch"] as const;
  const [wanted, other] = isMacos ? ([fields[1], fields[0]] as const) : fields;
  const path = ["attestation", "cryptolib_post"];
  const where = isMacos ? "on macOS" : `on ${type.operating_system}`;
  if (post[other] !== undefined) {
    const message = `${other} is set ${where}, expected ${wanted}`;
    yield error("hash-per-arch", place([...path, other], "key"), message, `Use ${wanted}.`);
  }
  if (post[wanted] === undefined) {
    const message = `${wanted} is missing, expected ${where}`;
    yield error("hash-per-arch", place(path), message, "Give the hash, or leave cryptolib_post out.");
  }
};

const fingerprintsOfSystem: ArtifactRule = function* ({ artifact, type, place }) {
  if (!type) return;
  const isMacos = type.operating_system === "macos";
  const fields = ["fingerprint", "fingerprint_per_arch"] as const;
  const [wanted, other] = isMacos ? ([fields[1], fields[0]] as const) : fields;
  for (const [index, { name, signature }] of (artifact.attestation?.file_signatures ?? []).entries()) {
    const path = ["attestation", "file_signatures", index, "signature"];
    if (signature[other] !== undefined) {
      const message = `${other} is set ${isMacos ? "on" : "outside"} macOS, expected ${wanted}`;
      const hint = isMacos ? "Give one per architecture." : "Use fingerprint.";
      yield error("fingerprint-per-arch", place([...path, other], "key"), message, hint);
    }
    if (signature[wanted] === undefined) {
      const code = isMacos ? "fingerprint-per-arch" : "fingerprint-missing";
      const message = `${display(name)} lacks ${wanted}, expected on ${isMacos ? "macOS" : "every signed file"}`;
      yield error(code, place(path), message, "Leave unsigned files out of file_signatures.");
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
