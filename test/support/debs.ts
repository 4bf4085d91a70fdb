import { hash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";

export interface DebToBuild {
  name: string;
  version: string;
  arch?: string;
  /** File name; default: as dpkg-deb has it. */
  file?: string;
  /** More lines of its control paragraph. */
  fields?: readonly string[];
}

/** A deb that dpkg-deb made, with what a manifest says of it. */
export interface BuiltDeb {
  path: string;
  entry: { name: string; package_type: string; sha256: string; size: number; package: object };
}

/** Builds a deb with one file, /usr/share/NAME/version. @param folder where the file goes */
export async function buildDeb(folder: string, deb: DebToBuild): Promise<BuiltDeb> {
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
  await execa("dpkg-deb", ["-Znone", "--root-owner-group", "--build", tree, path]);
  rmSync(tree, { recursive: true });
  const bytes = readFileSync(path);
  const { stdout } = await execa("dpkg-deb", ["-f", path]);
  return {
    path,
    entry: {
      name: file,
      package_type: "deb",
      sha256: hash("sha256", bytes),
      size: bytes.length,
      package: { type: "deb", arch, control: stdout },
    },
  };
}
