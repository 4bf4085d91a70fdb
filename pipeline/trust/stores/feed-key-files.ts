import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { failure } from "../../../shared/errors.ts";
import { armored, dearmored } from "../../../shared/openpgp-armor.ts";
import { certificateTitle, type FeedKeysDocument, feedKeysFolder } from "../../documents/feeds/keys.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { replaceDurably } from "../../system/files.ts";

/** Writes the certificate before the list that names it. @returns the written files */
export function writeFeedKeys(
  releases: string,
  keys: FeedKeysDocument["keys"],
  made?: { fingerprint: string; armored: string },
): string[] {
  // biome-ignore lint/plugin: a constant.
  const folder = join(releases, feedKeysFolder);
  const document: FeedKeysDocument = { schema_version: 1, keys };
  const files: [string, string][] = [
    ...(made ? [[`${made.fingerprint}.asc`, made.armored] satisfies [string, string]] : []),
    ["keys.json", `${JSON.stringify(document, null, 2)}\n`],
  ];
  mkdirSync(folder, { recursive: true });
  return files.map(([name, text]) => {
    // biome-ignore lint/plugin: relcat chose these file names.
    const file = join(folder, name);
    replaceDurably(file, new TextEncoder().encode(text));
    return file;
  });
}

/** @returns the certificate in ASCII armor @throws RelcatError feed-key, file-access */
export function readCertificateFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw accessFailure(`cannot read the certificate ${file}`, error);
  }
  const [packets, ...others] = dearmored(certificateTitle, text);
  if (packets && others.length === 0 && !text.includes("PRIVATE KEY BLOCK"))
    return armored(certificateTitle, packets);
  throw failure(
    "feed-key",
    `${file} is not a certificate, expected one block in ASCII armor without a private key`,
    "Export it: gpg --armor --export KEY",
  );
}
