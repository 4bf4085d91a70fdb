import { createHash } from "node:crypto";

/** A record in the list of a live catalog. */
export type Live = Record<string, unknown> & { id: number; version: string };

const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const nixAlphabet = "0123456789abcdfghijklmnpqrsvwxyz";
const nixHash = (text: string) =>
  Array.from(Buffer.from(hash(text), "hex"), (byte) => nixAlphabet[byte % 32]).join("");

interface Row {
  type: string;
  system: string;
  platform: number;
  kind: "chart" | "client" | "image";
}

const row = (type: string, system: string, platform: number, kind: Row["kind"]): Row => ({
  type,
  system,
  platform,
  kind,
});

export const rows: readonly Row[] = [
  row("helm", "kubernetes", 8, "chart"),
  row("rpm", "linux", 14, "client"),
  row("deb", "linux", 7, "client"),
  row("xz", "linux", 17, "client"),
  row("pkg", "macos", 5, "client"),
  row("msi", "windows", 4, "client"),
  row("qcow", "Linux", 11, "image"),
  row("qcow-efi", "Linux", 11, "image"),
  row("vmware", "Linux", 12, "image"),
  row("azure", "Linux", 6, "image"),
  row("amazon", "Linux", 3, "image"),
  row("incus", "Linux", 15, "image"),
];

/** Parameters of a generated record. */
export interface Seed {
  id: number;
  version: string;
  row: Row;
  name: string;
  created: string;
  modified?: string;
  description?: string;
  variant?: "gui_only" | "headless" | undefined;
  /** Older builds of a deb have the upper bound. */
  older?: boolean;
  wire?: { vendor: string; cryptolib_post: string };
}

/** A record that breaks no rule. */
export function liveRecord(seed: Seed): Live {
  const { id, version, row, name, created, modified = created, variant, older = false } = seed;
  const checksum = hash(`${id} ${name}`);
  const isDeb = row.type === "deb";
  return {
    id,
    name,
    version,
    description: seed.description ?? `${row.type} of ${version}`,
    checksum,
    operating_system: row.system,
    min_os_version: isDeb && !older ? "22.04" : null,
    max_os_version: isDeb && older ? "20.04" : null,
    package_type: row.type,
    created_date: created,
    modified_date: modified,
    data: dataOf(seed, checksum),
    exclude_from_api: false,
    gui_only: variant === "gui_only",
    headless: variant === "headless",
    platform: row.platform,
    only_for_account: null,
  };
}

function dataOf({ id, row, version, wire }: Seed, checksum: string): Record<string, unknown> {
  const { vendor, cryptolib_post } = wire ?? { vendor: "vendor", cryptolib_post: "cryptolib_post" };
  const attested = version >= "26.08";
  const upper = hash(`post ${id}`).toUpperCase();
  if (row.kind === "chart") return {};
  if (row.kind === "image") {
    const derivation = nixHash(`out ${id}`);
    return {
      store: { path: `/nix/store/${derivation}-controller-${row.type}`, size: 5_000_000_000 + (id % 1000) },
      [vendor]: {
        rev: hash(version).slice(0, 40),
        image: { drv: `/nix/store/${nixHash(`drv ${id}`)}-controller-${row.type}.drv`, derivation },
      },
      ...(attested && { attestation: { [cryptolib_post]: { expected_hash: upper } } }),
    };
  }
  if (!attested) return {};
  const macos = row.system === "macos";
  const keyId = row.type === "rpm" ? 16 : 40;
  return {
    attestation: {
      key_id: macos ? "Developer ID Installer: Example" : checksum.slice(0, keyId),
      sha256: checksum,
      ...((row.type === "rpm" || row.type === "deb") && {
        signature: { signer: "Example", display: "RSA/SHA256", fingerprint: checksum.slice(0, 32) },
      }),
      [cryptolib_post]: macos
        ? { expected_hash_per_arch: { arm64: upper, x86_64: upper } }
        : { expected_hash: upper },
      file_signatures: [
        {
          name: "client",
          signature: macos
            ? { signer: "Example", fingerprint_per_arch: { arm64: "ab12", x86_64: "cd34" } }
            : { fingerprint: checksum.slice(0, 16) },
        },
      ],
    },
  };
}

/** A catalog of many releases, as its list answers: newest first, ids mostly descending. */
export function largeCatalog(count: number, perRelease = 70): Live[] {
  const records: Live[] = [];
  for (let index = 0; index < count; index++) {
    const release = Math.floor(index / perRelease);
    const month = Math.floor(release / 5);
    const year = 20 + Math.floor(month / 12);
    const version = `${year}.${String((month % 12) + 1).padStart(2, "0")}.${String((release % 5) + 1).padStart(3, "0")}`;
    const seconds = Date.parse(`20${year}-${version.slice(3, 5)}-10T00:00:00Z`) / 1000 + index;
    const created = `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(index % 1_000_000).padStart(6, "0")}Z`;
    const row = rows[index % rows.length] as Row;
    const modified =
      index % 50 === 0 ? created.replace(/^(....)/, (text) => String(Number(text) + 1)) : created;
    const name =
      index % 9 === 0 ? `Controller for ${row.type}` : `product-${row.type}-${version}-${index}.bin`;
    const older = index % 2 === 0;
    records.push(
      liveRecord({
        id: index * 2 + 11,
        version,
        row,
        name,
        created,
        modified,
        older,
        wire: { vendor: "initech", cryptolib_post: "nss_post" },
      }),
    );
  }
  return records.sort((a, b) => (a.version === b.version ? b.id - a.id : a.version < b.version ? 1 : -1));
}
