import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { execa } from "execa";
import { readKeys } from "../../inspect/read-keys.ts";
import { allowDebsig } from "../../test/support/debsig.ts";

/** Whom relcat and the tools of Debian take signatures from. */
export interface Trust {
  /** Folder with certificates, for relcat. */
  keys: string;
  /** Database of rpm. */
  rpmdb: string;
  /** Folder with policies and keyrings of debsig-verify. */
  debsig: string;
  /** File with certificates of authorities, for osslsigncode. */
  authorities: string;
}

const fixtures = join(import.meta.dirname, "../../test/fixtures/artifacts/keys");
const owners = ["rsa4096", "ed25519", "subkey"];

/**
 * Allows who signed the fixtures and who signed the larger packages.
 * @param large folder with builder.gpg, builder.asc and authority.pem
 */
export async function makeTrust(work: string, large: string): Promise<Trust> {
  const folder = join(work, "trust");
  rmSync(folder, { recursive: true, force: true });
  const trust: Trust = {
    keys: join(folder, "keys"),
    rpmdb: join(folder, "rpmdb"),
    debsig: join(folder, "debsig"),
    authorities: join(folder, "authorities.pem"),
  };
  mkdirSync(trust.keys, { recursive: true });
  for (const owner of [...owners.map((name) => join(fixtures, name)), join(large, "builder")])
    await allowOpenPgp(trust, owner);
  const authorities = [join(fixtures, "codesign-ca.crt"), join(large, "authority.pem")];
  for (const path of [...authorities, join(fixtures, "ima.crt")])
    copyFileSync(path, join(trust.keys, basename(path)));
  writeFileSync(trust.authorities, authorities.map((path) => readFileSync(path, "utf8")).join(""));
  return trust;
}

/** @param owner path of a certificate without its ending: .gpg is binary, .asc armored */
async function allowOpenPgp({ keys, rpmdb, debsig }: Trust, owner: string): Promise<void> {
  const [binary, armored] = [`${owner}.gpg`, `${owner}.asc`];
  copyFileSync(binary, join(keys, basename(binary)));
  await execa("rpmkeys", ["--dbpath", rpmdb, "--import", armored]);
  const bytes = readFileSync(binary);
  const { openpgp } = await readKeys([{ name: binary, bytes }]);
  for (const certificate of openpgp) allowDebsig(debsig, certificate, bytes);
}
