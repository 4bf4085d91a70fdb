import type { RpmEntry, RpmMetadata } from "../../shared/package-metadata.ts";

/** What a package of the measured catalog states about itself, as `relcat ingest` would have read it. */
export function packageData(type: string, file: string, version: string): object | undefined {
  const arch = /arm64|aarch64/.test(file) ? "arm64" : "amd64";
  const name = file.split(/[-_]\d\d\./, 1).join("");
  if (type === "deb") return { type: "deb", arch, control: controlOf(name, version, arch) };
  if (type === "rpm") return rpmOf(name, version, arch);
  return type === "helm" ? chartOf(name, version) : undefined;
}

const controlOf = (name: string, version: string, arch: string): string =>
  `Package: ${name}
Version: ${version}
Architecture: ${arch}
Maintainer: Northgate Systems <releases@example.com>
Installed-Size: 148320
Pre-Depends: init-system-helpers (>= 1.54~)
Depends: libc6 (>= 2.31), libssl3 (>= 3.0.0) | libssl1.1, systemd (>= 245), iproute2, adduser, ca-certificates
Recommends: northgate-doc
Conflicts: northgate-legacy
Replaces: northgate-legacy (<< 20)
Section: net
Priority: optional
Homepage: https://northgate.example.com/
Description: Client of the Northgate Controller
 Enrols the device, keeps its tunnel up and installs policies.
 .
 The service runs as northgate.service.`;

const libraries = ["c", "m", "dl", "pthread", "resolv", "ssl", "crypto", "systemd"];
const programs = ["northgate", "northgate-ctl", "northgate-service", "northgate-update"];
const none: RpmEntry[] = [];

function rpmOf(name: string, version: string, arch: "amd64" | "arm64"): RpmMetadata {
  const own = { name, flags: "EQ", epoch: "0", version, release: "1" } as const;
  return {
    type: "rpm",
    name,
    epoch: 0,
    version,
    release: "1",
    arch,
    native_arch: arch === "amd64" ? "x86_64" : "aarch64",
    summary: "Client of the Northgate Controller",
    description: "Enrols the device, keeps its tunnel up and installs policies.",
    url: "https://northgate.example.com/",
    license: "Proprietary",
    vendor: "Northgate Systems",
    group: "Applications/Internet",
    buildhost: "builder.example.com",
    sourcerpm: `${name}-${version}-1.src.rpm`,
    build_time: 1_700_000_000,
    size: { installed: 151_879_680, archive: 151_900_000 },
    header_range: [4504, 18_320],
    provides: [own, { ...own, name: `${name}(${arch})` }, ...entriesOf("config", programs)],
    requires: [...entriesOf("lib", libraries), { name: "/bin/sh", pre: true }, { name: "systemd" }],
    conflicts: [{ name: "northgate-legacy" }],
    obsoletes: [{ name: "northgate-legacy", flags: "LT", epoch: "0", version: "20.01.001" }],
    recommends: [{ name: "northgate-doc" }],
    suggests: none,
    supplements: none,
    enhances: none,
    files: [
      ...programs.map((program) => ({ path: `/usr/bin/${program}`, type: "file" as const })),
      { path: "/etc/northgate", type: "dir" },
      { path: "/etc/northgate/northgate.conf", type: "file" },
    ],
  };
}

const entriesOf = (kind: string, names: readonly string[]): RpmEntry[] =>
  names.map((name) => ({ name: kind === "lib" ? `lib${name}.so.1()(64bit)` : `${kind}(${name})` }));

const chartOf = (name: string, version: string) => ({
  type: "helm",
  chart: {
    apiVersion: "v2",
    name,
    version: version.split(".").map(Number).join("."),
    appVersion: version,
    description: "The Northgate Controller on Kubernetes",
    home: "https://northgate.example.com/",
    kubeVersion: ">= 1.27.0-0",
    maintainers: [{ name: "Northgate Systems", email: "releases@example.com" }],
  },
});
