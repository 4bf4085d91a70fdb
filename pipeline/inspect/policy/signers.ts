import { createHash } from "node:crypto";
import { posix } from "node:path";
import type { Config } from "../../documents/config.ts";
import type { Policy } from "../../documents/policy.ts";
import { isRelativePath } from "../../documents/relative-path.ts";
import { failure } from "../../errors.ts";
import { readIfPresent } from "../../system/files.ts";
import { fetchDocument } from "../../system/network/fetch-document.ts";
import { refuseForeignLink } from "../../system/project-links.ts";
import { type KeyFile, type Keys, readKeys } from "../keys.ts";

/** More than any list of certificates. */
const mostBytes = 1 << 22;

/** Those who may sign, and under what name a policy that counts on them goes. */
export interface Signers {
  keys: Keys;
  /** SHA-256 of all certificates, their windows and the policy: whoever has the same, has held against the same. */
  digestOf(policy: Policy): string;
}

/**
 * The certificates of those who may sign, as `signers:` names them.
 * @param catalog path or https URL of catalog.yaml, which the names are relative to
 * @throws RelcatError input-missing, network, key-unusable
 */
export async function readSigners({ signers }: Pick<Config, "signers">, catalog: string): Promise<Signers> {
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

const fetched = async (url: string) => [url, await fetchDocument(url, mostBytes)] as const;

function read(folder: string, file: string): readonly [string, Uint8Array] {
  // With ".." in it, the name itself says in catalog.yaml that the file is elsewhere.
  if (isRelativePath(file)) refuseForeignLink(folder, file);
  const path = posix.join(folder, file);
  const bytes = readIfPresent(path);
  if (bytes) return [path, bytes];
  const hint = "Put the certificates there, or correct signers: in catalog.yaml.";
  throw failure("input-missing", `there is no file ${path}, which signers: names`, hint);
}
