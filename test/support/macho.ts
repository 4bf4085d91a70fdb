import { createHash } from "node:crypto";
import type { Identity } from "./certificates.ts";
import { octets, oid, sequence } from "./der.ts";
import { attribute, digestOids, type Signing, signedData } from "./signed-data.ts";

const archs = { x86_64: [0x1000007, 3], arm64: [0x100000c, 0], arm64e: [0x100000c, 2] } as const;

export interface Program {
  arch?: keyof typeof archs;
  /** Bytes after the load commands. */
  code?: Uint8Array;
  /** Undefined: the program has no code signature. */
  signature?: CodeSigning;
}

export interface CodeSigning {
  /** Without a signer it is signed ad hoc. */
  signer?: Identity;
  /** Digests of the first and of further CodeDirectories. */
  digests?: readonly (keyof typeof hashTypes)[];
  /** Further CodeDirectories listed in the signature. */
  bound?: readonly (keyof typeof digestOids)[];
  isAdhoc?: boolean;
  /** Blobs in addition to the CodeDirectories, by slot. */
  blobs?: Readonly<Record<number, Buffer>>;
  /** Changes what is hashed, or a CodeDirectory before it is signed. */
  special?: Readonly<Record<number, Buffer>>;
  change?: (directory: Buffer) => void;
  signing?: Partial<Signing>;
  /** Zeros after the signature. */
  room?: number;
  /** Number of hashed bytes; by default the whole program. */
  codeLimit?: number;
}

const hashTypes = { sha1: [1, 20], sha256: [2, 32], sha384: [4, 48] } as const;
const pageLog = 12;

export const blob = (magic: number, content: Uint8Array): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(magic, 0);
  head.writeUInt32BE(8 + content.length, 4);
  return Buffer.concat([head, content]);
};

/** A program for one architecture. */
export function machO({
  arch = "arm64",
  code = Buffer.alloc(5000, "code"),
  signature,
}: Program = {}): Buffer {
  const [type, subtype] = archs[arch];
  const commands = signature ? 16 : 0;
  const header = Buffer.alloc(32 + commands);
  for (const [index, value] of [0xfeedfacf, type, subtype, 2, signature ? 1 : 0, commands].entries())
    header.writeUInt32LE(value, 4 * index);
  const size = header.length + code.length;
  const filled = Buffer.alloc(-size & 15);
  if (!signature) return Buffer.concat([header, code, filled]);
  // The size of the signature is hashed with the header, and does not depend on it.
  const build = (length: number) => {
    for (const [index, value] of [0x1d, 16, size + filled.length, length].entries())
      header.writeUInt32LE(value, 32 + 4 * index);
    const program = Buffer.concat([header, code, filled]);
    return [program, codeSignature(program, signature)] as const;
  };
  const room = build(0)[1].length + 32 + (signature.room ?? 0);
  const [program, made] = build(room);
  return Buffer.concat([program, made, Buffer.alloc(room - made.length)]);
}

function codeSignature(program: Buffer, signing: CodeSigning): Buffer {
  const { digests = ["sha256"], blobs = {}, signer } = signing;
  const directories = digests.map((name) => codeDirectory(program, name, signing));
  const [first = Buffer.alloc(0)] = directories;
  const bound = (signing.bound ?? []).map((name) => {
    const directory = directories[digests.indexOf(name as "sha256")] ?? first;
    return sequence(oid(digestOids[name]), octets(createHash(name).update(directory).digest()));
  });
  const attributes = bound.length > 0 ? [attribute("1.2.840.113635.100.9.2", ...bound)] : [];
  const cms = signer && signedData({ signer, content: first, attributes, ...signing.signing });
  return superBlob([
    ...directories.map((directory, index) => [index === 0 ? 0 : 0xfff + index, directory] as const),
    ...Object.entries(blobs).map(([slot, bytes]) => [Number(slot), bytes] as const),
    ...(cms ? [[0x10000, blob(0xfade0b01, cms)] as const] : []),
  ]);
}

function superBlob(parts: readonly (readonly [number, Buffer])[]): Buffer {
  const index = Buffer.alloc(4 + 8 * parts.length);
  index.writeUInt32BE(parts.length, 0);
  let at = 8 + index.length;
  for (const [place, [slot, bytes]] of parts.entries()) {
    index.writeUInt32BE(slot, 4 + 8 * place);
    index.writeUInt32BE(at, 8 + 8 * place);
    at += bytes.length;
  }
  return blob(0xfade0cc0, Buffer.concat([index, ...parts.map(([, bytes]) => bytes)]));
}

function codeDirectory(program: Buffer, name: keyof typeof hashTypes, signing: CodeSigning): Buffer {
  const [type, size] = hashTypes[name];
  const hash = (bytes: Uint8Array) => createHash(name).update(bytes).digest();
  const texts = Buffer.from("com.example.acme\0TEAM1\0");
  const special = signing.special ?? signing.blobs ?? {};
  const count = Math.max(0, ...Object.keys(special).map(Number));
  const hashes = Array.from({ length: count }, (_, index) => special[count - index]).map((bytes) =>
    bytes ? hash(bytes) : Buffer.alloc(size),
  );
  const limit = signing.codeLimit ?? program.length;
  const pages: Buffer[] = [];
  for (let at = 0; at < limit; at += 1 << pageLog)
    pages.push(hash(program.subarray(at, Math.min(limit, at + (1 << pageLog)))));
  const head = Buffer.alloc(80);
  const hashAt = 88 + texts.length + count * size;
  const isAdhoc = signing.isAdhoc ?? !signing.signer;
  const fields = [0x20400, isAdhoc ? 2 : 0, hashAt, 88, count, pages.length, limit];
  for (const [index, value] of fields.entries()) head.writeUInt32BE(value, 4 * index);
  head.set([size, type, 0, pageLog], 28);
  head.writeUInt32BE(88 + 17, 40);
  const directory = blob(0xfade0c02, Buffer.concat([head, texts, ...hashes, ...pages]));
  signing.change?.(directory);
  return directory;
}

/** A file for several architectures. */
export function universal(programs: readonly Buffer[], { isLong = false, align = 12 } = {}): Buffer {
  const size = isLong ? 32 : 20;
  const head = Buffer.alloc(8 + size * programs.length);
  head.writeUInt32BE(isLong ? 0xcafebabf : 0xcafebabe, 0);
  head.writeUInt32BE(programs.length, 4);
  const parts: Buffer[] = [head];
  let at = head.length;
  for (const [index, program] of programs.entries()) {
    const fill = -at & (2 ** align - 1);
    parts.push(Buffer.alloc(fill), program);
    at += fill;
    const entry = head.subarray(8 + size * index);
    entry.writeUInt32BE(program.readUInt32LE(4), 0);
    entry.writeUInt32BE(program.readUInt32LE(8), 4);
    if (isLong) {
      entry.writeBigUInt64BE(BigInt(at), 8);
      entry.writeBigUInt64BE(BigInt(program.length), 16);
      entry.writeUInt32BE(align, 24);
    } else
      for (const [place, value] of [at, program.length, align].entries())
        entry.writeUInt32BE(value, 8 + 4 * place);
    at += program.length;
  }
  return Buffer.concat(parts);
}
