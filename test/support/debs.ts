import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";

export interface DebToBuild {
  name: string;
  version: string;
  arch?: string;
  /** File name; default: as dpkg-deb names it. */
  file?: string;
  /** More lines of its control paragraph. */
  fields?: readonly string[];
}

/** Builds a deb with one file, /usr/share/NAME/version. @returns its path */
export async function buildDeb(folder: string, deb: DebToBuild): Promise<string> {
  const { name, version, arch = "amd64", file = `${name}_${version}_${arch}.deb`, fields = [] } = deb;
  const [tree, path] = [join(folder, `${file}.tree`), join(folder, file)];
  mkdirSync(join(tree, "DEBIAN"), { recursive: true });
  mkdirSync(join(tree, "usr/share", name), { recursive: true });
  writeFileSync(join(tree, "usr/share", name, "version"), `${version}\n`);
  const control = [
    `Package: ${name}`,
    `Version: ${version}`,
    `Architecture: ${arch}`,
    "Maintainer: Example <releases@example.com>",
    ...fields,
    "Description: An example",
  ];
  writeFileSync(join(tree, "DEBIAN/control"), `${control.join("\n")}\n`);
  await execa("dpkg-deb", ["-Zgzip", "-z1", "--root-owner-group", "--build", tree, path]);
  rmSync(tree, { recursive: true });
  return path;
}
