import type { Problem } from "../../shared/errors.ts";
import { armored, dearmored } from "../../shared/openpgp-armor.ts";
import type { Settings } from "../documents/config.ts";
import { certificateTitle, type FeedKey, feedKeysFolder, feedKeysSchema } from "../documents/feeds/keys.ts";
import type { RpmSigner } from "../documents/feeds/settings.ts";
import { isRelativePath } from "../documents/relative-path.ts";
import { type AuthoredFiles, filesIn } from "./authored-files.ts";
import type { Located } from "./document.ts";
import { readBytes } from "./parse.ts";

/**
 * Whether a certificate can sign is checked when it does.
 * @param present fingerprints in the names of files, which must be listed
 */
export function readFeedKeys(
  folder: string,
  present: readonly string[] = [],
): { value: FeedKey[]; problems: Problem[] } {
  const { keys, problems } = readListed(folder, filesIn(folder));
  if (problems.length > 0) return { value: keys, problems };
  const listed = new Set(keys.map(({ fingerprint }) => fingerprint));
  const stray = present.filter((fingerprint) => !listed.has(fingerprint));
  return { value: keys, problems: stray.map((fingerprint) => strayProblem(folder, fingerprint)) };
}

function readListed(folder: string, files: AuthoredFiles): { keys: FeedKey[]; problems: Problem[] } {
  const path = `${feedKeysFolder}/keys.json`;
  const bytes = files.read(path);
  if (!bytes) return { keys: [], problems: [] };
  const { document, problems } = readBytes(`${folder}/${path}`, bytes, feedKeysSchema);
  if (!document) return { keys: [], problems };
  const keys: FeedKey[] = [];
  const faults: Problem[] = [...problems];
  for (const [index, entry] of document.value.keys.entries()) {
    const isKnown = keys.some(({ fingerprint }) => fingerprint === entry.fingerprint);
    const read = isKnown ? "is listed twice" : certificate(entry.fingerprint, files);
    if (typeof read !== "string") keys.push({ ...entry, armored: read.armored });
    else {
      const message = `the OpenPGP key ${entry.fingerprint} ${read}`;
      const hint =
        "relcat trust writes this folder: take it as git has it, or export the certificate again with gpg --armor --export.";
      const at = document.place(["keys", index, "fingerprint"], "value");
      faults.push({ code: "feed-key", severity: "error", message, hint, at });
    }
  }
  return { keys, problems: faults };
}

/** @returns the certificate, without comments that a program put into its armor; or what is wrong with its file */
function certificate(fingerprint: string, files: AuthoredFiles): { armored: string } | string {
  const path = `${feedKeysFolder}/${fingerprint}.asc`;
  const bytes = files.read(path);
  if (!bytes) return `has no certificate, expected it in ${path}`;
  const text = new TextDecoder().decode(bytes);
  if (text.includes("PRIVATE KEY BLOCK"))
    return `has a private key in ${path}, which would become public, expected the certificate alone`;
  const [packets, ...others] = dearmored(certificateTitle, text);
  if (!packets?.length || others.length > 0)
    return `has no certificate in ${path}, expected one block in ASCII armor`;
  return { armored: armored(certificateTitle, packets) };
}

const strayProblem = (folder: string, fingerprint: string): Problem => ({
  code: "feed-key",
  severity: "error",
  message: "the certificate is not in keys.json, expected it there with its state",
  hint: "Announce it with relcat trust rotate openpgp, or remove the file.",
  at: { file: `${folder}/${feedKeysFolder}/${fingerprint}.asc`, line: 1, column: 1 },
});

/** Clients of the yum feed need the certificates of `signers:` to check rpms. */
export async function readRpmSigners(
  { signers, feeds }: Pick<Settings, "signers" | "feeds">,
  files: AuthoredFiles,
  place: Located<unknown>["place"],
): Promise<{ value: RpmSigner[]; problems: Problem[] }> {
  const rpmSigners: RpmSigner[] = [];
  const problems: Problem[] = [];
  for (const [index, { file }] of (feeds.yum ? signers : []).entries()) {
    const read = await certificatesIn(file, files);
    if (Array.isArray(read)) rpmSigners.push(...read);
    else problems.push({ code: "feed-signer", ...read, at: place(["signers", index, "file"]) });
  }
  return { value: rpmSigners, problems };
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
