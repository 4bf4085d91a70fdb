import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";

/** Packages built by Debian's tools from the files of a folder. */

/**
 * @param top an empty folder to build in
 * @param compression of the payload, as rpm names it, such as w9.gzdio
 * @returns the path of the package
 */
export async function rpmbuild(top: string, tree: string, compression: string): Promise<string> {
  mkdirSync(top, { recursive: true });
  const spec = `Name: agent\nVersion: 26.8.1\nRelease: 1\nSummary: Agent\nLicense: none\nBuildArch: noarch
AutoReqProv: no\n%global __os_install_post %{nil}\n%description\nAgent.
%install\ncp -a ${tree}/. %{buildroot}\n%files\n/usr/bin/agent\n`;
  writeFileSync(join(top, "agent.spec"), spec);
  const defined = {
    _topdir: top,
    _binary_payload: compression,
    _build_name_fmt: "agent.rpm",
    _binaries_in_noarch_packages_terminate_build: "0",
  };
  const defines = Object.entries(defined).flatMap(([name, value]) => ["--define", `${name} ${value}`]);
  await execa("rpmbuild", ["-bb", ...defines, join(top, "agent.spec")]);
  return join(top, "RPMS/agent.rpm");
}

/** A signer with its secret key in gpg. */
export interface Signer {
  /** The fingerprint of the key. */
  id: string;
  home: string;
}

/** @param form --rpmv3 for a signature over the payload too */
export async function rpmsign(path: string, { id, home }: Signer, ...form: string[]): Promise<void> {
  const defined = { __gpg: "/usr/bin/gpg", _gpg_name: id, _gpg_path: home };
  const defines = Object.entries(defined).flatMap(([name, value]) => ["--define", `${name} ${value}`]);
  await execa("rpmsign", [...defines, "--resign", ...form, path]);
}

/**
 * @param top a folder that does not exist yet
 * @returns the path of the package next to it
 */
export async function dpkgDeb(top: string, tree: string, compression: string): Promise<string> {
  cpSync(tree, top, { recursive: true });
  mkdirSync(join(top, "DEBIAN"));
  const control =
    "Package: agent\nVersion: 26.8.1\nArchitecture: all\nMaintainer: Builder <builder@release.example>\nDescription: Agent\n";
  writeFileSync(join(top, "DEBIAN/control"), control);
  const path = `${top}.deb`;
  await execa("dpkg-deb", [`-Z${compression}`, "--root-owner-group", "--build", top, path]);
  return path;
}

/** A signer with a new key and its own home folder. @param algorithm as gpg names it, such as rsa3072 */
export async function newSigner(home: string, algorithm: string): Promise<Signer & { certificate: Buffer }> {
  mkdirSync(home, { mode: 0o700 });
  // debsigs runs gpg in strict OpenPGP mode, whose default digest is SHA-1.
  writeFileSync(join(home, "gpg.conf"), "digest-algo SHA512\n");
  const user = "Builder <builder@release.example>";
  await gpg({ home }, "--passphrase", "", "--quick-gen-key", user, algorithm, "sign", "1y");
  const { stdout } = await gpg({ home }, "--list-keys", "--with-colons");
  const id = /^fpr:+([0-9A-F]+):/m.exec(stdout)?.[1] ?? "";
  // The last byte of a signature can be that of a newline.
  const binary = { encoding: "buffer", stripFinalNewline: false } as const;
  const exported = await execa("gpg", ["--homedir", home, "--export", id], binary);
  return { id, home, certificate: Buffer.from(exported.stdout) };
}

export const gpg = ({ home }: Pick<Signer, "home">, ...args: string[]) =>
  execa("gpg", ["--homedir", home, "--batch", "--pinentry-mode", "loopback", ...args]);

/** An installer of the program agent.exe in the same folder, for wixl. */
export const installerSource = `<?xml version="1.0" encoding="utf-8"?>
<Wix xmlns="http://schemas.microsoft.com/wix/2006/wi">
  <Product Name="Acme" Id="*" UpgradeCode="5b1b0a1c-6c62-4e63-9a5a-0e8d1d3f0002" Language="1033" Version="26.8.1" Manufacturer="Example">
    <Package InstallerVersion="200" Compressed="yes"/>
    <Media Id="1" Cabinet="acme.cab" EmbedCab="yes"/>
    <Directory Id="TARGETDIR" Name="SourceDir"><Directory Id="ProgramFilesFolder"><Directory Id="INSTALLDIR" Name="Acme">
      <Component Id="Main" Guid="5b1b0a1c-6c62-4e63-9a5a-0e8d1d3f0003"><File Id="agent" Name="acme-agent.exe" Source="agent.exe"/></Component>
    </Directory></Directory></Directory>
    <Feature Id="All" Level="1"><ComponentRef Id="Main"/></Feature>
  </Product>
</Wix>`;
