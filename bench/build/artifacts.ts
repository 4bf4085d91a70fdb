import { createHash } from "node:crypto";
import { defaultPackageTypes } from "../../shared/package-types.ts";
import { packageData } from "./package-data.ts";

/** One artifact of every release, and the job that leaves its manifest. */
interface Line {
  job: string;
  type: string;
  file(version: string): string;
  variant?: Readonly<Record<string, string | boolean>>;
}

const image = (type: string, ending: string): Line => ({
  job: type,
  type,
  file: (version) => `northgate-controller-${type}-${version}.${ending}`,
});

const deb = (part: "core" | "gui", system: "2004" | "2204", arch = "amd64"): Line => ({
  job: `deb-${part}-${system}${arch === "amd64" ? "" : `-${arch}`}`,
  type: "deb",
  file: (version) => `northgate-client-${part}_${version}_${system}_${arch}.deb`,
  variant: {
    ...(system === "2004" ? { max_os_version: "20.04" } : { min_os_version: "22.04" }),
    ...variantOf(part),
  },
});

const client = (type: string, part: "core" | "gui", ending: string): Line => ({
  job: `${type}-${part}`,
  type,
  file: (version) => `northgate-client-${part}-${version}${ending}`,
  variant: variantOf(part),
});

function variantOf(part: "core" | "gui"): Readonly<Record<string, boolean>> {
  return part === "core" ? { headless: true } : { gui_only: true };
}

const lines: readonly Line[] = [
  { job: "chart", type: "helm", file: (version) => `northgate-controller-chart-${version}.tgz` },
  deb("core", "2004"),
  deb("gui", "2004"),
  deb("core", "2204"),
  deb("gui", "2204"),
  client("rpm", "core", "-1.x86_64.rpm"),
  client("rpm", "gui", "-1.x86_64.rpm"),
  client("xz", "core", "-x86_64.tar.xz"),
  client("xz", "gui", "-x86_64.tar.xz"),
  client("pkg", "core", ".pkg"),
  client("pkg", "gui", ".pkg"),
  client("msi", "core", "-x64.msi"),
  client("msi", "gui", "-x64.msi"),
  image("qcow", "qcow2.gz"),
  image("qcow-efi", "qcow2.gz"),
  image("esxi", "ova"),
  image("vmware", "vmdk.gz"),
  image("xen", "xva.gz"),
  image("azure", "vhd.gz"),
  image("hyperv", "vhdx.gz"),
  image("amazon", "vhd.gz"),
  image("proxmox", "vma.zst"),
  image("gce", "raw.tar.gz"),
  image("gce-efi", "raw.tar.gz"),
  image("incus", "tar.xz"),
];

export const artifactsPerRelease = lines.length;

/** As many artifacts, with six debs and three rpms: those of arm64 take the place of three graphical clients. */
const linesWithPackages: readonly Line[] = [
  ...lines.filter(({ job }) => !/^(?:xz|pkg|msi)-gui$/.test(job)),
  deb("core", "2204", "arm64"),
  deb("gui", "2204", "arm64"),
  { ...client("rpm", "core", "-1.aarch64.rpm"), job: "rpm-core-arm64" },
];

/** Every package type a release must have, as catalog.yaml asks for them. */
export const expectedTypes: readonly string[] = [...new Set(lines.map(({ type }) => type))];

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The source revision that the images of a release are built from. */
export const revisionOf = (version: string): string => digest(`controller ${version}`).slice(0, 40);

/**
 * What the jobs of a release leave: a manifest each, of one artifact. They state what they know, so that nobody who
 * reads them needs the table of package types. The same version gives the same bytes.
 * @param hasPackageData whether they state what package feeds list
 * @returns file name and text
 */
export function manifestsOf(version: string, hasPackageData: boolean): { name: string; text: string }[] {
  return (hasPackageData ? linesWithPackages : lines).map((line) => {
    const artifact = artifactOf(line, version);
    const stated = hasPackageData ? packageData(line.type, artifact.name, version) : undefined;
    const manifest = { release: version, artifacts: [{ ...artifact, package: stated }] };
    return { name: `${line.job}.json`, text: `${JSON.stringify(manifest, null, 2)}\n` };
  });
}

function artifactOf({ type, file, variant }: Line, version: string) {
  const row = defaultPackageTypes[type];
  if (!row) throw new Error(`${type} is no package type`);
  const name = file(version);
  const sha256 = digest(name);
  return {
    name,
    package_type: type,
    description: row.description,
    operating_system: row.operating_system,
    platform: row.platform,
    sha256,
    size: sizeOf(name, row.kind === "image" ? 2e9 : 6e7),
    min_os_version: null,
    max_os_version: null,
    gui_only: false,
    headless: false,
    ...variant,
    ...(row.kind === "image" && imageParts(name, version)),
    ...(row.kind === "client" && { attestation: clientAttestation(type, name, sha256) }),
  };
}

/** Between a half and one and a half times the usual size. */
const sizeOf = (name: string, usual: number): number =>
  Math.round(usual * (0.5 + Number.parseInt(digest(`size ${name}`).slice(0, 8), 16) / 2 ** 32));

function imageParts(name: string, version: string) {
  const output = storeHash(`output ${name}`);
  return {
    store: { path: `/nix/store/${output}-${name}`, size: sizeOf(`store ${name}`, 5e9) },
    vendor: {
      rev: revisionOf(version),
      image: { drv: `/nix/store/${storeHash(`recipe ${name}`)}-${name}.drv`, derivation: output },
    },
    attestation: { cryptolib_post: { expected_hash: selfCheck(version) } },
  };
}

/** Nix's base 32 has no e, o, t, u. */
function storeHash(text: string): string {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 32);
  return Array.from(bytes, (byte) => "0123456789abcdfghijklmnpqrsvwxyz"[byte % 32]).join("");
}

const selfCheck = (text: string): string => digest(`self-check ${text}`).toUpperCase();

const programs = [
  "northgate",
  "northgate-service",
  "northgate-ctl",
  "northgate-update",
  "libnorthgate-crypto",
];

function clientAttestation(type: string, name: string, sha256: string) {
  const isMac = type === "pkg";
  const key = keyOf(type);
  const signer = "Northgate Systems Release Signing <releases@example.com>";
  const perArchitecture = (text: string, hash: (text: string) => string) => ({
    arm64: hash(`arm64 ${text}`),
    x86_64: hash(`x86_64 ${text}`),
  });
  return {
    key_id: key,
    sha256,
    ...((type === "deb" || type === "rpm") && {
      signature: { signer, display: "RSA/SHA256, signed by the release key of this year", fingerprint: key },
    }),
    cryptolib_post: isMac
      ? { expected_hash_per_arch: perArchitecture(name, selfCheck) }
      : { expected_hash: selfCheck(name) },
    file_signatures: programs.slice(0, 3 + (name.length % 3)).map((program) => ({
      name: `usr/lib/northgate/${program}`,
      signature: {
        signer,
        ...(isMac
          ? {
              fingerprint_per_arch: perArchitecture(`${program} ${name}`, (text) =>
                digest(text).slice(0, 40),
              ),
            }
          : { fingerprint: digest(`${program} ${name}`) }),
      },
    })),
  };
}

function keyOf(type: string): string {
  if (type === "rpm") return digest("rpm key").slice(0, 16);
  if (type === "deb" || type === "msi") return digest(`${type} key`).slice(0, 40);
  return type === "pkg" ? "Developer ID Installer: Northgate Systems (8K2Q4Z7M3T)" : "releases@example.com";
}
