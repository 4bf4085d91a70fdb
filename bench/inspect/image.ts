import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { type Group, repeated } from "../build/rounds.ts";

export const image = {
  title: "A large image",
  inspected: "relcat ingest, an image that is inspected",
  hashed: "relcat ingest, an image that is hashed",
  openssl: "openssl dgst -sha256, the image",
} as const;

const disk = "disk.raw";
const signer = join(import.meta.dirname, "../../test/fixtures/artifacts/keys/rsa4096.asc");

/** A disk that ingest hashes or, where its type has a policy, inspects too. */
export interface Image {
  folder: string;
  size: number;
  hash: readonly [string, ...string[]];
  inspect: readonly [string, ...string[]];
}

/** A disk of one partition and holes, for two projects. */
export function makeImage(relcat: string, work: string, size: number): Image {
  const folder = join(work, "image");
  const rest = 'require: {}\ningest: [{ match: "*.raw", package_type: amazon }]\n';
  const policy = "signers: [{ file: signer.asc }]\npolicy: { amazon: { verdict: [ok] } }\n";
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "hash.yaml"), rest);
  writeFileSync(join(folder, "inspect.yaml"), rest + policy);
  copyFileSync(signer, join(folder, "signer.asc"));
  writeFileSync(join(folder, disk), bootSector());
  truncateSync(join(folder, disk), size);
  const ingest = (config: string) =>
    [
      process.execPath,
      relcat,
      "ingest",
      disk,
      "--config",
      config,
      "--release",
      "26.01.001",
      "--out",
      "-",
    ] as const;
  return { folder, size, hash: ingest("hash.yaml"), inspect: ingest("inspect.yaml") };
}

function bootSector(): Buffer {
  const sector = Buffer.alloc(512);
  sector.writeUInt8(0x83, 450);
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}

export function imageGroup({ folder, hash, inspect }: Image, work: string): Group {
  const env = { NODE_COMPILE_CACHE: undefined };
  const entry = (name: string, argv: readonly [string, ...string[]]) =>
    repeated(name, { argv, cwd: folder, env }, join(work, "outs"));
  return {
    title: image.title,
    entries: [
      entry(image.openssl, ["openssl", "dgst", "-sha256", disk]),
      entry(image.hashed, hash),
      entry(image.inspected, inspect),
    ],
  };
}

/** Bytes that ingest reads while it inspects, of whatever files, as the system counts them. */
export async function bytesRead({ folder, inspect }: Image): Promise<number> {
  const report = join(folder, "bytes-read");
  const [node, ...args] = inspect;
  const preload = ["--import", join(import.meta.dirname, "report-bytes.mjs")];
  const { stdout } = await execa(node, [...preload, ...args], { cwd: folder, env: { BYTES_READ: report } });
  const { artifacts } = JSON.parse(stdout);
  if (artifacts[0]?.inspected?.verdict !== "ok") throw new Error(`${disk} is not ok: ${stdout}`);
  return Number(readFileSync(report, "utf8"));
}
