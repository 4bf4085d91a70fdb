import { createHash } from "node:crypto";
import { signatureNamespace } from "../documents/trust.ts";
import type { Signer } from "./keys.ts";

/** Namespace passed to `ssh-keygen -Y verify -n`. */
const magic = Buffer.from("SSHSIG");
const hash = "sha512";
const keyType = "ssh-ed25519";

/**
 * A detached signature that any system's `ssh-keygen` can verify.
 * @returns the armored form (PROTOCOL.sshsig of OpenSSH)
 */
export async function sshSignature(signer: Signer, message: Uint8Array): Promise<string> {
  const digest = createHash(hash).update(message).digest();
  const covered = Buffer.concat([magic, ...[signatureNamespace, "", hash].map(field), field(digest)]);
  const signature = Buffer.concat([field(keyType), field(await signer.sign(covered))]);
  const fields = [publicBlob(signer.publicKey), signatureNamespace, "", hash, signature].map(field);
  const blob = Buffer.concat([magic, uint32(1), ...fields]).toString("base64");
  return `-----BEGIN SSH SIGNATURE-----\n${blob.replace(/.{1,70}/g, "$&\n")}-----END SSH SIGNATURE-----\n`;
}

/**
 * A line of `allowed_signers` (ssh-keygen(1)). @param principal identity of the key, such as
 * releases@example.com
 */
export const allowedSigner = (principal: string, publicKey: Uint8Array): string =>
  `${principal} namespaces="${signatureNamespace}" ${keyType} ${publicBlob(publicKey).toString("base64")}\n`;

const publicBlob = (publicKey: Uint8Array) => Buffer.concat([field(keyType), field(publicKey)]);

/** A string of the SSH wire format (RFC 4251, section 5). */
function field(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
