import { createHash } from "node:crypto";
import { posix } from "node:path";
import type { Keys } from "../../inspect/keys.ts";
import { type KeyFile, readKeys } from "../../inspect/read-keys.ts";
import { failure } from "../../shared/errors.ts";
import type { Settings } from "../documents/config.ts";
import type { Policy } from "../documents/policy.ts";
import { isRelativePath } from "../documents/relative-path.ts";
import { readIfPresent, refuseForeignLink } from "../system/files.ts";
import { fetchDocument } from "../system/network/fetch.ts";

/** Larger than any list of certificates. */
const maxCertificateListBytes = 1 << 22;

/** Allowed signers, and a digest that identifies the policy they were used with. */
export interface Signers {
  keys: Keys;
  /** SHA-256 over all certificates, their windows and the policy: equal digests mean equal checks. */
  digestOf(policy: Policy): string;
}

/**
 * @param catalog path or https URL of catalog.yaml; the names in `signers:` are relative to it
 * @throws RelcatError input-missing, network, key-unusable
 */
export async function readSigners({ signers }: Pick<Settings, "signers">, catalog: string): Promise<Signers> {
  const files: KeyFile[] = [];
  for (const { file, ...window } of signers) {
    const [name, bytes] = /^https:/.test(catalog)
      ? await fetched(new URL(file, catalog).href)
      : read(posix.dirname(catalog), file);
    files.push({ ...window, name, bytes });
  }
  const parts = files.map(({ bytes, notBefore = null, notAfter = null }) => [
    sha256(bytes),
    notBefore,
    notAfter,
  ]);
  return {
    keys: await readKeys(files),
    digestOf: ({ verdict, selfCheck = null, unsigned, versions }) =>
      sha256(JSON.stringify([parts.sort(), verdict, selfCheck, unsigned, versions])),
  };
}

const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

const fetched = async (url: string) => [url, await fetchDocument(url, maxCertificateListBytes)] as const;

function read(folder: string, file: string): readonly [string, Uint8Array] {
  // A name with ".." in catalog.yaml already states that the file is outside the folder.
  if (isRelativePath(file)) refuseForeignLink(folder, file);
  const path = posix.join(folder, file);
  const bytes = readIfPresent(path);
  if (bytes) return [path, bytes];
  const hint = "Put the certificates there, or correct signers: in catalog.yaml.";
  throw failure("input-missing", `there is no file ${path}, which signers: names`, hint);
}
