import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, cut } from "../../pipeline/index.ts";

const types = [
  "rpm",
  "xz",
  "pkg",
  "msi",
  "helm",
  "qcow",
  "qcow-efi",
  "esxi",
  "xen",
  "azure",
  "hyperv",
  "amazon",
];

/**
 * Builds a catalog of `releases` × `artifacts` records, the same each time.
 * @returns the folder of the site
 */
export async function buildSite(folder: string, releases: number, artifacts: number): Promise<string> {
  const authored = join(folder, "releases");
  mkdirSync(authored, { recursive: true });
  writeFileSync(join(authored, "catalog.yaml"), "require: {}\n");
  for (let number = 0; number < releases; number++) writeRelease(authored, number, artifacts);
  const out = join(folder, "dist");
  const surroundings = { clock: 1_800_000_000_000, pid: process.pid, onWait: () => {} };
  await cut(authored, {}, surroundings);
  await build(authored, out, {}, surroundings);
  return out;
}

/** @param bytes of each artifact; default: what a large one has */
export function writeRelease(
  authored: string,
  number: number,
  artifacts: number,
  bytes?: number,
): { version: string; names: string[] } {
  const month = Math.floor(number / 12) % 12;
  const year = 10 + Math.floor(number / 144);
  const [yy, mm] = [String(year).padStart(2, "0"), String(month + 1).padStart(2, "0")];
  const version = `${yy}.${mm}.${String((number % 12) + 1).padStart(3, "0")}`;
  const folder = join(authored, version);
  mkdirSync(join(folder, "manifests"), { recursive: true });
  writeFileSync(join(folder, "release.yaml"), `version: ${version}\ndate: 20${yy}-${mm}-15\n`);
  const list = Array.from({ length: artifacts }, (_, index) => artifact(version, index, bytes));
  writeFileSync(join(folder, "manifests/all.json"), JSON.stringify({ release: version, artifacts: list }));
  return { version, names: list.map(({ name }) => name) };
}

function artifact(version: string, index: number, bytes = 100_000_000 + index) {
  const type = types[index % types.length] ?? "rpm";
  const name = `product-${index}-${version}.${type}`;
  const sha256 = createHash("sha256").update(name).digest("hex");
  const inner = (file: number) => ({
    name: `usr/lib/product/part-${file}`,
    signature: { fingerprint: createHash("sha256").update(`${name} ${file}`).digest("hex") },
  });
  const isClient = index % types.length < 2;
  return {
    name,
    package_type: type,
    sha256,
    size: bytes,
    ...(isClient && {
      attestation: { sha256, file_signatures: Array.from({ length: 6 }, (_, file) => inner(file)) },
    }),
  };
}
