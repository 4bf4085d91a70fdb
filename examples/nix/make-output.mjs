// node make-output.mjs VERSION: writes out/JOB/ as build.sh does for each job, for a machine without Nix. The disks are empty.
// A real project removes this file. Needs tar and gzip.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";

const version = process.argv[2];
const jobs = { kvm: ["qcow-efi", "qcow2", qcow2], gce: ["gce", "tar.gz", diskInTar] };

/** Bytes of each disk. */
const size = 1 << 20;

rmSync("out", { recursive: true, force: true });
for (const [job, [name, extension, write]] of Object.entries(jobs)) {
  const folder = `out/${job}`;
  mkdirSync(`${folder}/result`, { recursive: true });
  write(`${folder}/result/appliance-${name}-${version}.${extension}`);
  const recipe = `/nix/store/${storeHash(`recipe of ${name}`)}-appliance-${name}.drv`;
  const output = `/nix/store/${storeHash(`output of ${name} ${version}`)}-appliance-${name}`;
  const json = (file, value) => writeFileSync(`${folder}/${file}`, `${JSON.stringify(value, null, 2)}\n`);
  json("build.json", [{ drvPath: recipe, outputs: { out: output } }]);
  json("path-info.json", {
    [output]: {
      deriver: recipe,
      narHash: `sha256-${digest(name).toString("base64")}`,
      narSize: size + 400,
      references: [],
    },
  });
}

function digest(text) {
  return createHash("sha256").update(text).digest();
}

/** The 32 characters in front of a store path's name. */
function storeHash(text) {
  return [...digest(text)].map((byte) => "0123456789abcdfghijklmnpqrsvwxyz"[byte & 31]).join("");
}

/** A qcow2 file of version 3 whose disk has no data. Clusters of 64 KiB: header, refcount table, refcounts, L1 table. */
function qcow2(file) {
  const cluster = 1 << 16;
  const image = Buffer.alloc(4 * cluster);
  image.write("QFI\xfb", 0, "latin1");
  image.writeUInt32BE(3, 4);
  image.writeUInt32BE(16, 20); // bits of a cluster
  image.writeBigUInt64BE(BigInt(size), 24);
  image.writeUInt32BE(1, 36); // entries of the L1 table
  image.writeBigUInt64BE(BigInt(3 * cluster), 40);
  image.writeBigUInt64BE(BigInt(cluster), 48);
  image.writeUInt32BE(1, 56); // clusters of the refcount table
  image.writeUInt32BE(4, 96); // refcounts of 16 bits
  image.writeUInt32BE(104, 100);
  image.writeBigUInt64BE(BigInt(2 * cluster), cluster);
  for (const used of [0, 1, 2, 3]) image.writeUInt16BE(1, 2 * cluster + 2 * used);
  writeFileSync(file, image);
}

/** disk.raw in a tar, as Google Cloud wants it. */
function diskInTar(file) {
  const folder = "out/disk";
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/disk.raw`, Buffer.alloc(size));
  const same = ["--format=oldgnu", "--mtime=@1793664000", "--owner=0", "--group=0", "--numeric-owner"];
  execFileSync("tar", ["--create", "--gzip", ...same, "--file", file, "--directory", folder, "disk.raw"]);
  rmSync(folder, { recursive: true });
}
