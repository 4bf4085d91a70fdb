import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";

/** An rpm that rpmbuild makes. */
export interface RpmSpec {
  name: string;
  version: string;
  release?: string;
  epoch?: number;
  /** As rpm names it. */
  arch?: string;
  /** Lines of the preamble, such as `Requires: curl`. */
  preamble?: readonly string[];
  description?: string;
  /** Sections such as `%post` with their lines. */
  sections?: string;
  /** Content by path. */
  files?: Readonly<Record<string, string>>;
  /** Lines of `%files` other than the paths of `files`. */
  listed?: readonly string[];
}

/**
 * Builds an rpm with Debian's rpmbuild.
 * @param top an empty folder to build in
 * @returns the path of the rpm
 */
export async function buildRpm(top: string, spec: RpmSpec): Promise<string> {
  const tree = join(top, "tree");
  for (const [path, content] of Object.entries(spec.files ?? {})) {
    mkdirSync(join(tree, dirname(path)), { recursive: true });
    writeFileSync(join(tree, path), content);
  }
  mkdirSync(tree, { recursive: true });
  writeFileSync(join(top, "package.spec"), specText(spec, tree));
  const defined = {
    _topdir: top,
    _build_name_fmt: "%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm",
    __os_install_post: "%{nil}",
  };
  const defines = Object.entries(defined).flatMap(([name, value]) => ["--define", `${name} ${value}`]);
  const target = spec.arch && spec.arch !== "noarch" ? ["--target", spec.arch] : [];
  await execa("rpmbuild", ["-bb", ...target, ...defines, join(top, "package.spec")]);
  const [file = ""] = readdirSync(join(top, "RPMS"));
  return join(top, "RPMS", file);
}

function specText(spec: RpmSpec, tree: string): string {
  const { name, version, release = "1", epoch, arch, preamble = [], description = "The agent." } = spec;
  return `Name: ${name}
Version: ${version}
Release: ${release}
${epoch === undefined ? "" : `Epoch: ${epoch}\n`}Summary: Agent
License: Apache-2.0
AutoReqProv: no
${arch === "noarch" ? "BuildArch: noarch\n" : ""}${preamble.join("\n")}
%description
${description}
%install
cp -a ${tree}/. %{buildroot}
${spec.sections ?? ""}
%files
${[...Object.keys(spec.files ?? {}).map((path) => `"${path}"`), ...(spec.listed ?? [])].join("\n")}
`;
}
