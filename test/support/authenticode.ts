import type { Identity } from "./certificates.ts";
import { algorithm, der, integer, octets, oid, sequence } from "./der.ts";
import { contentTypes, digestOids, type Signing, signedData } from "./signed-data.ts";

/** Kinds of files that Authenticode signs. */
export const subjects = { pe: "1.3.6.1.4.1.311.2.1.15", msi: "1.3.6.1.4.1.311.2.1.30" };

export interface SigningOfFile {
  signer: Identity;
  digest?: keyof typeof digestOids;
  subject: string;
  /** Data specific to the kind of file. */
  value?: Buffer;
  signing?: Partial<Signing> | undefined;
}

/** Signs the hash of a file as Authenticode does: in SpcIndirectDataContent, inside PKCS #7. */
export function authenticode(hash: Buffer, wishes: SigningOfFile): Buffer {
  const { signer, digest = "sha256", subject, value = sequence(integer(1)), signing } = wishes;
  const content = Buffer.concat([
    sequence(oid(subject), value),
    sequence(algorithm(digestOids[digest]), octets(hash)),
  ]);
  const inside = der(0x30, content);
  return signedData({ signer, content, inside, contentType: contentTypes.indirect, digest, ...signing });
}
