import { type Architecture, architectureNames } from "../documents/feeds/package-metadata.ts";
import { Fault } from "../documents/verdict.ts";

/** Other names of the architectures, from rpm, the kernel, Apple and file names. */
const names: Readonly<Record<Architecture, readonly string[]>> = {
  amd64: ["x86_64", "x86_64_v2", "x86_64_v3", "x86_64_v4", "x86-64", "x64"],
  arm64: ["aarch64"],
  armhf: ["armv7hl", "armv7hnl", "armv6hl", "armv7l", "armv7"],
  i386: ["i486", "i586", "i686", "x86"],
  ppc64el: ["ppc64le"],
  riscv64: [],
  s390x: [],
  all: ["noarch"],
};

const byName = new Map<string, Architecture>(
  architectureNames.flatMap((arch) => [arch, ...names[arch]].map((name) => [name, arch] as const)),
);

/** @throws Fault unsupported-format */
export function architectureNamed(
  name: string,
  table: ReadonlyMap<string, Architecture> = byName,
): Architecture {
  const arch = table.get(name);
  if (arch) return arch;
  const known = [...new Set(table.values())].join(", ");
  throw new Fault(
    "unsupported-format",
    `its architecture is ${JSON.stringify(name)}, expected one of ${known}`,
  );
}

/** Words such as all are too common in file names. */
const inFileNames = new RegExp(
  `(?<![a-z0-9])(?:${[...byName.keys()].filter((name) => name !== "all").join("|")})(?![a-z0-9])`,
  "g",
);

/** The architecture in a file name; undefined if there is none, or several. */
export function architectureInName(file: string): Architecture | undefined {
  const found = new Set((file.toLowerCase().match(inFileNames) ?? []).map((name) => byName.get(name)));
  return found.size === 1 ? [...found][0] : undefined;
}
