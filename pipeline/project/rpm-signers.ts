import type { Problem } from "../../shared/errors.ts";
import { armored, dearmored } from "../../shared/openpgp-armor.ts";
import type { Config } from "../documents/config.ts";
import { certificateTitle } from "../documents/feeds/keys.ts";
import type { RpmSigner } from "../documents/feeds/settings.ts";
import { isRelativePath } from "../documents/relative-path.ts";
import type { AuthoredFiles } from "./authored-files.ts";
import type { Located } from "./document.ts";

/**
 * Reads the OpenPGP certificates of `signers:` if the yum feed is on: its clients need them to check rpms.
 * @param place of an entry in catalog.yaml
 */
export async function readRpmSigners(
  { signers, feeds }: Pick<Config, "signers" | "feeds">,
  files: AuthoredFiles,
  place: Located<unknown>["place"],
): Promise<{ rpmSigners: RpmSigner[]; problems: Problem[] }> {
  const rpmSigners: RpmSigner[] = [];
  const problems: Problem[] = [];
  for (const [index, { file }] of (feeds.yum ? signers : []).entries()) {
    const read = await certificatesIn(file, files);
    if (Array.isArray(read)) rpmSigners.push(...read);
    else problems.push({ code: "feed-signer", ...read, at: place(["signers", index, "file"]) });
  }
  return { rpmSigners, problems };
}

type Fault = Pick<Problem, "severity" | "message" | "hint">;

async function certificatesIn(file: string, files: AuthoredFiles): Promise<RpmSigner[] | Fault> {
  if (file.endsWith(".txt")) return [];
  if (!isRelativePath(file))
    return {
      severity: "warning",
      message: `clients of yum repositories do not get the certificates in ${file}, which is not in this folder`,
      hint: "Move it to signers/ next to catalog.yaml; then clients can check the signatures of rpms too.",
    };
  const bytes = files.read(file);
  if (!bytes) return unusable(`there is no file ${file}`);
  if (isX509(bytes)) return [];
  const isText = (bytes[0] ?? 0) < 0x80;
  const blocks = isText ? dearmored(certificateTitle, new TextDecoder().decode(bytes)) : [bytes];
  const found = await Promise.all(blocks.map(signersIn)).catch(() => []);
  return found.length > 0 ? found.flat() : unusable(`${file} does not contain a readable certificate`);
}

const unusable = (message: string): Fault => ({
  severity: "error",
  message: `${message}, expected one for clients of the yum repositories`,
  hint: "Write it with gpg --armor --export KEY, or correct signers: in catalog.yaml.",
});

/** PEM, or DER, which begins with a SEQUENCE tag that no OpenPGP packet has. */
const isX509 = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x30 || Buffer.from(bytes).includes("-----BEGIN CERTIFICATE-----");

async function signersIn(binaryKeys: Uint8Array): Promise<RpmSigner[]> {
  const { readKeys } = await import("openpgp"); // Imported lazily, because few projects have this feed.
  const keys = await readKeys({ binaryKeys });
  return keys.map((key) => ({
    keyIds: key.getKeyIDs().map((id) => id.toHex()),
    armored: armored(certificateTitle, key.toPublic().write()),
  }));
}
