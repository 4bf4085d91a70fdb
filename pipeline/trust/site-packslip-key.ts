import { join } from "node:path";
import { failure } from "../../shared/errors.ts";
import type { Settings } from "../documents/config.ts";
import { readIfPresent, refuseForeignLink, replaceDurably } from "../system/files.ts";
import { packslipKey, parsePackslipKey } from "./feeds/packslip.ts";
import type { Signer } from "./keys.ts";
import type { SignedRoot } from "./metadata.ts";
import { keysOf } from "./renewal.ts";
import { newKeyPem, openSigner, signerOfPem } from "./stores/signer.ts";
import { refuseExposed, trustFolder, writeKeys } from "./stores/trust-folder.ts";

const publicFile = (releases: string): string => join(trustFolder(releases), "packslip.pub");

const create = "Create a key with relcat trust init KEYS-FOLDER --packslip";

/**
 * Makes the key of packslip. It has no rotation, because users pin it.
 * @returns its id and what users give to mise, the files to commit, and the new private key
 * @throws RelcatError trust-exists, key-exposed, file-exists, file-access
 */
export async function beginPackslipKey(releases: string, folder: string) {
  const file = publicFile(releases);
  if (readIfPresent(file))
    throw failure(
      "trust-exists",
      `${file} exists already`,
      "Users pin this key. If it is lost, remove the file, create another key, and tell them its new line.",
    );
  await refuseExposed(folder);
  const pem = newKeyPem();
  const { id, line, text } = packslipKey(signerOfPem(pem, file).publicKey);
  writeKeys(folder, { "packslip.pem": pem });
  replaceDurably(file, new TextEncoder().encode(text));
  return { key_id: id, public: line, written: [file], keys: [join(folder, "packslip.pem")] };
}

/** The key that users pin; null: the project has none. @throws RelcatError trust-damaged */
export function pinnedPackslipKey(releases: string): { key_id: string; public: string } | null {
  const file = publicFile(releases);
  const bytes = readIfPresent(file);
  if (!bytes) return null;
  const key = parsePackslipKey(new TextDecoder().decode(bytes));
  if (!key)
    throw failure("trust-damaged", `${file} is not a key as minisign writes it`, "Restore it from git.");
  return { key_id: key.id, public: key.line };
}

/** @throws RelcatError feed-unsigned, key-unusable, key-untrusted */
export function openPackslipSigner(
  releases: string,
  trust: Settings["trust"],
  root: SignedRoot,
  environment: Readonly<Record<string, string | undefined>>,
): Signer {
  const file = publicFile(releases);
  refuseForeignLink(trustFolder(releases), "packslip.pub");
  const pinned = readIfPresent(file);
  if (!pinned)
    throw failure("feed-unsigned", `${file} is missing, the key of the feed packslip`, `${create}.`);
  const signer = openSigner(trust, environment, "packslip");
  const untrusted = (what: string, hint: string) =>
    failure("key-untrusted", `${signer.place} is ${what}`, hint);
  const { root: roots, targets, online } = keysOf(root.metadata.signed);
  if ([...roots.keys, targets, online].some((key) => Buffer.compare(key, signer.publicKey) === 0))
    throw untrusted("a key of the TUF metadata too", `${create}, and sign with that one.`);
  if (packslipKey(signer.publicKey).text !== new TextDecoder().decode(pinned))
    throw untrusted(`not the private half of ${file}`, "Sign with the key that users have pinned.");
  return signer;
}
