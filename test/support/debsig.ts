import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenPgpCertificate } from "../../inspect/keys.ts";

/** A policy that requires the origin's signature by this certificate's primary key. */
export function allowDebsig(folder: string, { signing }: OpenPgpCertificate, certificate: Uint8Array): void {
  const id = signing[0]?.fingerprint.toUpperCase() ?? "";
  for (const kind of ["policies", "keyrings"]) mkdirSync(join(folder, kind, id), { recursive: true });
  const required = `<Required Type="origin" File="key.gpg" id="${id}"/>`;
  const policy = `<?xml version="1.0"?><Policy xmlns="https://www.debian.org/debsig/1.0/"><Origin Name="Example" id="${id}"/>
    <Selection>${required}</Selection><Verification MinOptional="0">${required}</Verification></Policy>`;
  writeFileSync(join(folder, "policies", id, "example.pol"), policy);
  writeFileSync(join(folder, "keyrings", id, "key.gpg"), certificate);
}

/** Options of debsig-verify for the policy. */
export const debsigFolders = (folder: string): string[] => [
  "--policies-dir",
  join(folder, "policies"),
  "--keyrings-dir",
  join(folder, "keyrings"),
];
