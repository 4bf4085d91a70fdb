import { createHash, generateKeyPairSync, type KeyObject, sign, X509Certificate } from "node:crypto";
import type { Keys } from "../../inspect/keys.ts";
import {
  algorithm,
  bits,
  context,
  der,
  generalizedTime,
  integer,
  octets,
  oid,
  sequence,
  set,
  text,
  yes,
} from "./der.ts";

/** A key with its certificate. */
export interface Identity {
  certificate: Buffer;
  key: KeyObject;
  name: Buffer;
  /** The name of the issuer. */
  issuer: Buffer;
  serial: number;
}

export interface Wishes {
  issuer?: Identity;
  isCa?: boolean;
  pathLength?: number;
  /** Extended key usages; null: the certificate does not say. */
  usages?: readonly string[] | null;
  /** The bits of its key usage, from the first; null: the certificate does not say. */
  keyUsage?: number | null;
  from?: string;
  to?: string;
  /** Digest of the issuer's signature. */
  digest?: "sha256" | "sha1";
  /** An unknown critical extension. */
  critical?: string;
  kind?: "ec" | "rsa";
}

export const codeSigning = "1.3.6.1.5.5.7.3.3";
export const timeStamping = "1.3.6.1.5.5.7.3.8";

const signatureOids = {
  ec: { sha256: "1.2.840.10045.4.3.2", sha1: "1.2.840.10045.4.1" },
  rsa: { sha256: "1.2.840.113549.1.1.11", sha1: "1.2.840.113549.1.1.5" },
};

let serial = 1000;

/** Makes a key and its certificate (RFC 5280): by default a valid leaf for signing code. */
export function identity(name: string, wishes: Wishes = {}): Identity {
  const pair =
    wishes.kind === "rsa"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const subject = sequence(set(sequence(oid("2.5.4.3"), text(name))));
  const own: Identity = {
    certificate: Buffer.alloc(0),
    key: pair.privateKey,
    name: subject,
    issuer: subject,
    serial: ++serial,
  };
  const issuer = wishes.issuer ?? own;
  const kind = issuer.key.asymmetricKeyType === "rsa" ? "rsa" : "ec";
  const signature = algorithm(signatureOids[kind][wishes.digest ?? "sha256"]);
  const spki = pair.publicKey.export({ type: "spki", format: "der" });
  const body = sequence(
    context(0, integer(2)),
    integer(own.serial),
    signature,
    issuer.name,
    sequence(
      generalizedTime(Date.parse(wishes.from ?? "2020-01-01")),
      generalizedTime(Date.parse(wishes.to ?? "2040-01-01")),
    ),
    subject,
    spki,
    context(3, sequence(...extensions(wishes, spki))),
  );
  const signed = sign(wishes.digest ?? "sha256", body, issuer.key);
  return { ...own, issuer: issuer.name, certificate: sequence(body, signature, bits(signed)) };
}

export const keyIdOf = (spki: Uint8Array): Buffer => createHash("sha1").update(spki).digest();

function extensions({ isCa, pathLength, usages, keyUsage, critical }: Wishes, spki: Uint8Array): Buffer[] {
  const extension = (name: string, value: Buffer, isCritical = true) =>
    sequence(oid(name), ...(isCritical ? [yes] : []), octets(value));
  const bitsOfUsage = keyUsage === undefined ? (isCa ? 0x04 : 0x80) : keyUsage;
  const purposes = usages === undefined ? (isCa ? null : [codeSigning]) : usages;
  return [
    extension(
      "2.5.29.19",
      sequence(...(isCa ? [yes] : []), ...(pathLength === undefined ? [] : [integer(pathLength)])),
    ),
    extension("2.5.29.14", octets(keyIdOf(spki)), false),
    ...(bitsOfUsage === null ? [] : [extension("2.5.29.15", bits(Buffer.from([bitsOfUsage])))]),
    ...(purposes === null
      ? []
      : [extension("2.5.29.37", sequence(...purposes.map(oid)), purposes.includes(timeStamping))]),
    ...(critical === undefined ? [] : [extension(critical, der(0x05))]),
  ];
}

export type Allowed = Identity & { notBefore?: number; notAfter?: number };

/** Allows only these keys. */
export const allowing = (...allowed: readonly Allowed[]): Keys => ({
  openpgp: [],
  x509: allowed.map(({ certificate, serial, notBefore, notAfter }) => ({
    file: `${serial}.crt`,
    certificate: new X509Certificate(certificate),
    notBefore,
    notAfter,
  })),
});

/** The PEM form for command line tools. */
export const pem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString("base64").replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
