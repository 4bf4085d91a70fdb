import { X509Certificate } from "node:crypto";
import { type Problem, RelcatError } from "../errors.ts";
import { type OpenPgpCertificate, readOpenPgpCertificates } from "./signatures/openpgp-keys.ts";
import { readCertificate } from "./signatures/x509.ts";

/** When a key may have signed; open where undefined. Milliseconds since 1970. */
interface Window {
  notBefore?: number | undefined;
  notAfter?: number | undefined;
}

export interface OpenPgpKey extends Window, OpenPgpCertificate {
  /** The file it came from, for messages. */
  file: string;
}

export interface X509Key extends Window {
  file: string;
  certificate: X509Certificate;
}

/** Who may sign. A CA among the certificates allows the leaves it issued. */
export interface Keys {
  openpgp: readonly OpenPgpKey[];
  x509: readonly X509Key[];
}

/** A file of certificates; the window holds for all of them. */
export interface KeyFile extends Window {
  name: string;
  bytes: Uint8Array;
}

/**
 * Who may sign, out of files: OpenPGP certificates (armored or binary, also several joined) and X.509 certificates (PEM,
 * also several, or DER). Lists for people beside them (`.txt`) are left out.
 * @throws RelcatError key-unusable, with each file that holds something else
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

/** @throws Error whose message goes on from the file's name */
async function certificatesOf(bytes: Uint8Array): Promise<Certificates> {
  const text = Buffer.from(bytes).toString("latin1");
  if (/-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY/.test(text))
    throw new Error("holds a private key, expected certificates; move it to where only its owner reads");
  const pem = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (pem) return { openpgp: [], x509: pem.map(certificateOf) };
  // DER begins with a SEQUENCE, whose octet is no tag of an OpenPGP packet.
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
