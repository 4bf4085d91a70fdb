import { type Architecture, architectureNames } from "../shared/package-metadata.ts";
import { unsupported } from "./verdict.ts";

/** Other names in file names, from rpm, the kernel and Apple. Short ones such as arm or sh4 may mean something else there. */
const inFileNames: Readonly<Record<Architecture, readonly string[]>> = {
  amd64: ["x86_64", "x86_64_v2", "x86_64_v3", "x86_64_v4", "x86-64", "x64"],
  arm64: ["aarch64"],
  armel: [],
  armhf: ["armv7hl", "armv7hnl", "armv6hl", "armv7l", "armv7"],
  i386: ["i486", "i586", "i686", "x86"],
  loong64: ["loongarch64"],
  mips64el: [],
  mipsel: [],
  ppc64: [],
  ppc64el: ["ppc64le"],
  riscv64: [],
  s390x: [],
  all: ["noarch"],
};

/** Other names in packages: those of rpm's rpmrc, and of compilers. */
const inPackages: Readonly<Record<Architecture, readonly string[]>> = {
  alpha: ["alphaev5", "alphaev56", "alphapca56", "alphaev6", "alphaev67"],
  amd64: ["ia32e", "em64t"],
  armeb: ["armv4b"],
  armel: ["armv3l", "armv4l", "armv4tl", "armv5tl", "armv5tel", "armv5tejl", "armv6l"],
  armhf: ["armv8l", "armv8hl", "armv8hnl", "armv8hcnl"],
  hppa: ["hppa1.0", "hppa1.1", "hppa1.2", "hppa2.0", "parisc"],
  i386: ["athlon", "geode", "pentium3", "pentium4"],
  "mint-m68k": ["m68kmint"],
  powerpc: ["ppc", "powerppc", "ppc8260", "ppc8560", "ppc32dy4", "ppciseries", "ppcpseries"],
  ppc64: ["powerpc64", "ppc64p7", "ppc64pseries", "ppc64iseries"],
  ppc64el: ["powerpc64le"],
  riscv64: ["riscv"],
  s390: ["i370"],
  sh4: ["sh4a"],
  sparc: ["sparcv8", "sparcv9", "sparcv9v", "sun4", "sun4c", "sun4d", "sun4m"],
  sparc64: ["sparc64v", "sun4u"],
};

const namesOf = (table: Readonly<Record<Architecture, readonly string[]>>) =>
  Object.entries(table).flatMap(([arch, names]) => [arch, ...names].map((name) => [name, arch] as const));

const byName: ReadonlyMap<string, Architecture> = new Map([
  ...architectureNames.map((name) => [name, name] as const),
  ...namesOf(inFileNames),
  ...namesOf(inPackages),
]);

/** undefined: rpm has names that Debian does not have, such as xtensa. */
export const knownArchitecture = (name: string): Architecture | undefined => byName.get(name);

/** @throws Fault unsupported-format */
export function architectureNamed(
  name: string,
  table: ReadonlyMap<string, Architecture> = byName,
): Architecture {
  const arch = table.get(name);
  if (arch) return arch;
  throw unsupported(`its architecture is ${JSON.stringify(name)}, which relcat does not know`);
}

/** Words such as all are too common in file names. */
const wordInName = new RegExp(
  `(?<![a-z0-9])(?:${namesOf(inFileNames)
    .flatMap(([name]) => (name === "all" ? [] : [name]))
    .join("|")})(?![a-z0-9])`,
  "g",
);

/** The architecture in a file name; undefined if there is none, or several. */
export function architectureInName(file: string): Architecture | undefined {
  const found = new Set((file.toLowerCase().match(wordInName) ?? []).map((name) => byName.get(name)));
  return found.size === 1 ? [...found][0] : undefined;
}
