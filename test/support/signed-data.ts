import { createHash, sign } from "node:crypto";
import type { Identity } from "./certificates.ts";
import { algorithm, context, generalizedTime, integer, octets, oid, sequence, set } from "./der.ts";

export const contentTypes = {
  data: "1.2.840.113549.1.7.1",
  indirect: "1.3.6.1.4.1.311.2.1.4",
  timestamp: "1.2.840.113549.1.9.16.1.4",
};

export const digestOids = {
  sha1: "1.3.14.3.2.26",
  sha256: "2.16.840.1.101.3.4.2.1",
  sha384: "2.16.840.1.101.3.4.2.2",
};

export interface Signing {
  signer: Identity;
  certificates?: readonly Buffer[];
  /** Signed content, without tag and length if it is ASN.1. */
  content: Uint8Array;
  /** Embedded content; undefined: detached. */
  inside?: Buffer;
  contentType?: string;
  digest?: keyof typeof digestOids;
  /** Attributes in addition to content type and digest. */
  attributes?: readonly Buffer[];
  unsigned?: (signature: Buffer) => readonly Buffer[];
  version?: number;
  /** Replaces parts. */
  instead?: Partial<Record<Part, Buffer>>;
}

type Part =
  | "digests"
  | "signers"
  | "identifier"
  | "attributes"
  | "algorithm"
  | "signature"
  | "signerVersion"
  | "certificates";

export const attribute = (name: string, ...values: readonly Buffer[]): Buffer =>
  sequence(oid(name), set(...values));

/** Signs content as CMS does (RFC 5652). */
export function signedData(signing: Signing): Buffer {
  const { signer, contentType = contentTypes.data, digest = "sha256", instead = {} } = signing;
  const digestAlgorithm = algorithm(digestOids[digest]);
  const parts = instead.attributes ?? attributesOf(signing, contentType, digest);
  const signature = sign(digest, Buffer.concat([Buffer.from([0x31]), parts.subarray(1)]), signer.key);
  const unsigned = signing.unsigned?.(signature);
  const isRsa = signer.key.asymmetricKeyType === "rsa";
  const info = sequence(
    instead.signerVersion ?? integer(1),
    instead.identifier ?? sequence(signer.issuer, integer(signer.serial)),
    digestAlgorithm,
    parts,
    instead.algorithm ?? algorithm(isRsa ? "1.2.840.113549.1.1.1" : "1.2.840.10045.2.1"),
    octets(instead.signature ?? signature),
    ...(unsigned ? [context(1, ...unsigned)] : []),
  );
  const version = signing.version ?? (contentType === contentTypes.timestamp ? 3 : 1);
  return sequence(
    oid("1.2.840.113549.1.7.2"),
    context(
      0,
      sequence(
        integer(version),
        instead.digests ?? set(digestAlgorithm),
        sequence(oid(contentType), ...(signing.inside ? [context(0, signing.inside)] : [])),
        instead.certificates ?? context(0, ...(signing.certificates ?? [signer.certificate])),
        instead.signers ?? set(info),
      ),
    ),
  );
}

function attributesOf({ content, attributes = [] }: Signing, contentType: string, digest: string): Buffer {
  const hash = createHash(digest).update(content).digest();
  return context(
    0,
    attribute("1.2.840.113549.1.9.3", oid(contentType)),
    attribute("1.2.840.113549.1.9.4", octets(hash)),
    ...attributes,
  );
}

/** An RFC 3161 timestamp of a signature, as an unsigned attribute. */
export function timestamp(
  tsa: Identity,
  time: string,
  wishes: { name?: string; digest?: keyof typeof digestOids; of?: Buffer } = {},
) {
  return (signature: Buffer): readonly Buffer[] => {
    const digest = wishes.digest ?? "sha256";
    const imprint = createHash(digest)
      .update(wishes.of ?? signature)
      .digest();
    const info = sequence(
      integer(1),
      oid("1.2.3.4"),
      sequence(algorithm(digestOids[digest]), octets(imprint)),
      integer(7),
      generalizedTime(Date.parse(time)),
    );
    const token = signedData({
      signer: tsa,
      content: info,
      inside: octets(info),
      contentType: contentTypes.timestamp,
    });
    return [attribute(wishes.name ?? "1.2.840.113549.1.9.16.2.14", token)];
  };
}
