import { createCipheriv } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { bytesOf } from "../../test/support/artifacts.ts";
import { codeSigning, type Identity, identity, pem } from "../../test/support/certificates.ts";
import {
  dpkgDeb,
  gpg,
  installerSource,
  newSigner,
  rpmbuild,
  rpmsign,
  type Signer,
} from "../../test/support/stock-packages.ts";

/** What is packed: so much of Node's own binary, which compresses as programs do. */
function writeProgram(path: string, size: number): Buffer {
  const program = Buffer.alloc(size);
  const file = openSync(process.execPath, "r");
  for (let at = 0; at < size; ) at += readSync(file, program, at, size - at, at % 2 ** 26);
  closeSync(file);
  writeFileSync(path, program);
  return program;
}

/**
 * Packages of one program, made and signed with the tools of Debian; those of an earlier run are taken.
 * @param size of the program, in bytes
 * @param hugeSize of the content of those in the folder `huge`
 * @returns a folder with them, and with the certificates of who signed: builder.gpg, builder.asc and authority.pem
 */
export async function makeLarge(work: string, size: number, hugeSize: number): Promise<string> {
  const folder = join(work, `large-${size}-${hugeSize}`);
  const made = join(folder, "made");
  if (existsSync(made)) return folder;
  rmSync(folder, { recursive: true, force: true });
  const tree = join(folder, "tree");
  mkdirSync(join(tree, "usr/bin"), { recursive: true });
  const program = writeProgram(join(tree, "usr/bin/agent"), size);
  const { certificate, ...signer } = await newSigner(join(folder, "gnupg"), "rsa4096");
  writeFileSync(join(folder, "builder.gpg"), certificate);
  await gpg(signer, "--output", join(folder, "builder.asc"), "--armor", "--export", signer.id);
  for (const compression of ["gzip", "xz", "zstd"] as const) {
    await makeRpm(folder, tree, compression, signer);
    await makeDeb(folder, tree, compression, signer);
  }
  await makeHuge(join(folder, "huge"), hugeSize, signer);
  await execa("gpgconf", ["--homedir", signer.home, "--kill", "all"]);
  await makeInstaller(folder, program);
  writeFileSync(made, "");
  return folder;
}

/**
 * Packages that are much larger, with zstd and gzip: agent-gzip.deb, agent-zstd.deb, agent-gzip.rpm and agent-zstd.rpm.
 * @param size of the content, in bytes. Half of it compresses as programs do, so that 300 MiB become 200 MB.
 */
async function makeHuge(folder: string, size: number, signer: Signer): Promise<void> {
  const tree = join(folder, "tree");
  mkdirSync(join(tree, "usr/bin"), { recursive: true });
  const path = join(tree, "usr/bin/agent");
  const program = writeProgram(path, size);
  const cipher = createCipheriv("aes-128-ctr", Buffer.alloc(16), Buffer.alloc(16));
  for (let at = 0; at < size; at += 2 << 20)
    program.set(cipher.update(program.subarray(at, at + (1 << 20))), at);
  writeFileSync(path, program);
  for (const [compression, payload] of [
    ["gzip", "w6.gzdio"],
    ["zstd", "w3.zstdio"],
  ] as const) {
    await makeRpm(folder, tree, compression, signer, payload);
    await makeDeb(folder, tree, compression, signer);
    for (const made of [`rpm-${compression}`, `agent-${compression}`])
      rmSync(join(folder, made), { recursive: true });
  }
  rmSync(tree, { recursive: true });
}

type Compression = "gzip" | "xz" | "zstd";

/** As distributions of these years make them: Fedora zstd, Red Hat xz, others gzip; in rpm's names. */
const payloads: Record<Compression, string> = { gzip: "w9.gzdio", xz: "w2.xzdio", zstd: "w19.zstdio" };

async function makeRpm(
  folder: string,
  tree: string,
  compression: Compression,
  signer: Signer,
  payload = payloads[compression],
): Promise<void> {
  const path = await rpmbuild(join(folder, `rpm-${compression}`), tree, payload);
  await rpmsign(path, signer);
  copyFileSync(path, join(folder, `agent-${compression}.rpm`));
}

/** Signed as debsigs does, which itself does not know zstd. */
async function makeDeb(
  folder: string,
  tree: string,
  compression: Compression,
  signer: Signer,
): Promise<void> {
  const path = await dpkgDeb(join(folder, `agent-${compression}`), tree, compression);
  // The last byte of a member or of a signature can be that of a newline.
  const binary = { encoding: "buffer", stripFinalNewline: false, maxBuffer: 2 ** 30 } as const;
  const members = await execa("ar", ["p", path], binary);
  const options = ["--homedir", signer.home, "--batch", "--detach-sign"];
  const signature = await execa("gpg", options, { ...binary, input: members.stdout });
  appendFileSync(path, arMember("_gpgorigin", signature.stdout));
}

/** A member of an ar archive (deb(5)). */
function arMember(name: string, content: Uint8Array): Buffer {
  const fields = [
    [name, 16],
    ["0", 12],
    ["0", 6],
    ["0", 6],
    ["100644", 8],
    [String(content.length), 10],
  ] as const;
  const header = `${fields.map(([field, width]) => field.padEnd(width)).join("")}\`\n`;
  return Buffer.concat([Buffer.from(header), content, Buffer.from(content.length % 2 === 0 ? "" : "\n")]);
}

/** An installer of one signed program. */
async function makeInstaller(folder: string, program: Buffer): Promise<void> {
  const root = identity("Root", { isCa: true, kind: "rsa" });
  const signer = identity("Builder", { issuer: root, kind: "rsa", usages: [codeSigning] });
  writeFileSync(join(folder, "authority.pem"), pem(root.certificate));
  const unsigned = join(folder, "unsigned.exe");
  writeFileSync(unsigned, Buffer.concat([bytesOf("msi/agent-unsigned.exe"), program]));
  await osslsigncode(folder, signer, unsigned, join(folder, "agent.exe"));
  writeFileSync(join(folder, "agent.wxs"), installerSource);
  await execa("wixl", ["-o", "unsigned.msi.part", "agent.wxs"], { cwd: folder });
  await osslsigncode(
    folder,
    signer,
    join(folder, "unsigned.msi.part"),
    join(folder, "agent.msi"),
    "-add-msi-dse",
  );
}

async function osslsigncode(
  folder: string,
  signer: Identity,
  from: string,
  to: string,
  ...options: string[]
): Promise<void> {
  const [certificate, key] = [join(folder, "signer.pem"), join(folder, "signer.key")];
  writeFileSync(certificate, pem(signer.certificate));
  writeFileSync(key, signer.key.export({ type: "pkcs8", format: "pem" }));
  const signing = ["-h", "sha256", "-certs", certificate, "-key", key];
  await execa("osslsigncode", ["sign", ...signing, ...options, "-in", from, "-out", to]);
}
