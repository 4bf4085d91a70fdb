import type { KeyObject, X509Certificate } from "node:crypto";

/** A primary key or subkey that may sign. */
export interface SigningKey {
  /** Lower-case hexadecimal: the key id has 16 digits, the fingerprint 40 or (version 6) 64. */
  keyId: string;
  fingerprint: string;
  /** The certificate's primary user id. */
  userId: string;
  /** Milliseconds since 1970; infinite: no expiry. */
  created: number;
  expires: number;
  /** Includes revocation of the primary key, for any reason and at any time: a signature's own date proves nothing. */
  isRevoked: boolean;
  /** Typed as `object`, because the library's types need packages that users do not install. */
  packet: object;
  /** The same key for node:crypto, if it is RSA or Ed25519. */
  native: KeyObject | undefined;
}

export interface OpenPgpCertificate {
  signing: readonly SigningKey[];
}

/** Period in which a key may sign, in milliseconds since 1970. Undefined: no bound. */
export interface Window {
  notBefore?: number | undefined;
  notAfter?: number | undefined;
}

export const isWithin = ({ notBefore, notAfter }: Window, time: number): boolean =>
  time >= (notBefore ?? time) && time <= (notAfter ?? time);

export interface OpenPgpKey extends Window, OpenPgpCertificate {
  /** Shown in messages. */
  file: string;
}

export interface X509Key extends Window {
  file: string;
  certificate: X509Certificate;
}

/** Allowed signers. A CA certificate allows every leaf that it issued. */
export interface Keys {
  openpgp: readonly OpenPgpKey[];
  x509: readonly X509Key[];
}
