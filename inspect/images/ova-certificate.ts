import { verify } from "node:crypto";
import type { InspectOptions } from "../inspection.ts";
import { digests, refuseWeak } from "../signatures/digest.ts";
import { readCertificate, subjectOf } from "../signatures/x509.ts";
import { chainOf, usages } from "../signatures/x509-chain.ts";
import { Fault, malformed } from "../verdict.ts";
import { type Manifest, readDigestLine } from "./ova-manifest.ts";

/**
 * Verifies the signature over a manifest: one line with the RSA signature, then PEM certificates, the
 * signer's first.
 * @returns the signer
 * @throws Fault malformed, bad-signature, weak-digest, untrusted-key, expired-certificate
 */
export function verifyCertificate(text: string, manifest: Manifest, { keys, now }: InspectOptions): string {
  const [first = ""] = text.split(/\r?\n/, 1);
  const { file, name, hex } = readDigestLine(first, "its certificate");
  if (file !== manifest.path) throw malformed(`its certificate signs ${file}, expected ${manifest.path}`);
  const [signer, ...among] = certificatesIn(text);
  if (!signer) throw malformed("its certificate file has no certificate");
  const signature = Buffer.from(hex, "hex");
  if (!verify(name, manifest.bytes, signer.publicKey, signature))
    throw new Fault("bad-signature", `${manifest.path} is not what ${subjectOf(signer)} signed`);
  refuseWeak(digests[name], "the signature of its manifest");
  for (const digest of manifest.digests.values()) refuseWeak(digests[digest.name], "its manifest");
  chainOf(signer, { among, keys, at: now, usage: usages.codeSigning });
  return subjectOf(signer);
}

function certificatesIn(text: string) {
  const armored = text.matchAll(/-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g);
  return [...armored].map(([, base64 = ""]) => readCertificate(Buffer.from(base64, "base64")));
}
