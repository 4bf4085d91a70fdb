import { X509Certificate } from "node:crypto";
import { type Problem, RelcatError } from "../shared/errors.ts";
import type { Keys, OpenPgpCertificate, OpenPgpKey, Window, X509Key } from "./keys.ts";
import { readOpenPgpCertificates } from "./signatures/openpgp-keys.ts";
import { readCertificate } from "./signatures/x509.ts";

/** A file of certificates, all with the same validity window. */
export interface KeyFile extends Window {
  name: string;
  bytes: Uint8Array;
}

/**
 * Reads the allowed signers from OpenPGP files (armored or binary, possibly concatenated) and X.509 files
 * (PEM, possibly several, or DER). Human-readable `.txt` lists in the same folder are skipped.
 * @throws RelcatError key-unusable, naming each file with other content
 */
export async function readKeys(files: readonly KeyFile[]): Promise<Keys> {
  const keys: { openpgp: OpenPgpKey[]; x509: X509Key[] } = { openpgp: [], x509: [] };
  const problems: Problem[] = [];
  for (const { name, bytes, ...window } of files.filter((file) => !file.name.endsWith(".txt"))) {
    try {
      const { openpgp, x509 } = await certificatesOf(bytes);
      keys.x509.push(...x509.map((certificate) => ({ ...window, file: name, certificate })));
      keys.openpgp.push(...openpgp.map((certificate) => ({ ...window, file: name, ...certificate })));
    } catch (error) {
      const message = `${name} ${error instanceof Error ? error.message : String(error)}`;
      problems.push({ code: "key-unusable", severity: "error", message, hint });
    }
  }
  if (problems.length > 0) throw new RelcatError(problems);
  return keys;
}

const hint = "put nothing but certificates there: gpg --armor --export KEY, or a certificate as PEM or DER";

interface Certificates {
  openpgp: readonly OpenPgpCertificate[];
  x509: readonly X509Certificate[];
}

/** @throws Error; the caller puts the file name before its message */
async function certificatesOf(bytes: Uint8Array): Promise<Certificates> {
  const text = Buffer.from(bytes).toString("latin1");
  if (/-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY/.test(text))
    throw new Error(
      "holds a private key, expected certificates; move it to where only its owner can read it",
    );
  const pem = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (pem) return { openpgp: [], x509: pem.map(certificateOf) };
  // DER begins with a SEQUENCE tag (0x30), which no OpenPGP packet starts with.
  if (bytes[0] === 0x30) return { openpgp: [], x509: [certificateOf(bytes)] };
  return { openpgp: await readOpenPgpCertificates(bytes), x509: [] };
}

function certificateOf(bytes: string | Uint8Array): X509Certificate {
  try {
    const certificate = new X509Certificate(bytes);
    readCertificate(certificate.raw);
    return certificate;
  } catch (cause) {
    throw new Error("holds a certificate that cannot be read, expected X.509 as PEM or DER", { cause });
  }
}
