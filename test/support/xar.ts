import { createHash, privateEncrypt, sign } from "node:crypto";
import { deflateSync, gzipSync } from "node:zlib";
import type { Identity } from "./certificates.ts";
import { type CpioFile, cpio } from "./cpio.ts";
import { type Signing, signedData } from "./signed-data.ts";

export interface XarFile {
  path: string;
  content: Uint8Array;
  /** Whether it is a zlib stream. */
  isPacked?: boolean;
  /** Replaces the elements of its data. */
  data?: string;
}

export interface Wishes {
  digest?: "sha256" | "sha1" | "sha512" | "md5";
  /** Signers of the RSA signature and of the CMS signature. */
  rsa?: Identity | undefined;
  cms?: Identity | undefined;
  certificates?: readonly Buffer[];
  /** Signs the hash itself, as Apple does, or a hash of it. */
  isHashedAgain?: boolean;
  signing?: Partial<Signing>;
  /** Changes the table before it is packed. */
  toc?: (xml: string) => string;
  /** Unused bytes of the heap, before the files and after them. */
  gap?: number;
  after?: Buffer;
  header?: (header: Buffer) => void;
}

const algorithms = { sha1: 1, md5: 2, sha256: 3, sha512: 4 } as const;
const rsaRoom = 256;
const cmsRoom = 4096;

/** Writes a xar archive (xar(1)), signed as installers of macOS are. */
export function xar(files: readonly XarFile[], wishes: Wishes = {}): Buffer {
  const { digest = "sha256", rsa, cms, gap = 0, after = Buffer.alloc(0) } = wishes;
  const size = createHash(digest).digest().length;
  const certificates =
    wishes.certificates ?? [rsa ?? cms].flatMap((signer) => (signer ? [signer.certificate] : []));
  const rsaAt = size;
  const cmsAt = rsaAt + (rsa ? rsaRoom : 0);
  let at = cmsAt + (cms ? cmsRoom : 0) + gap;
  const elements: string[] = [];
  const heap: Buffer[] = [];
  for (const { path, content, isPacked = false, data } of files) {
    const stored = isPacked ? deflateSync(content) : Buffer.from(content);
    elements.push(fileElement(path, data ?? dataElement(content, stored, at, isPacked, digest)));
    heap.push(stored);
    at += stored.length;
  }
  const toc = `<?xml version="1.0" encoding="UTF-8"?><xar><toc><checksum style="${digest}"><offset>0</offset><size>${size}</size></checksum>${
    rsa ? signatureElement("signature", "RSA", rsaAt, rsaRoom, certificates) : ""
  }${cms ? signatureElement("x-signature", "CMS", cmsAt, cmsRoom, certificates) : ""}${elements.join("")}</toc></xar>`;
  const xml = Buffer.from(wishes.toc?.(toc) ?? toc);
  const packed = deflateSync(xml);
  const hash = createHash(digest).update(packed).digest();
  const header = headerOf(packed.length, xml.length, algorithms[digest]);
  wishes.header?.(header);
  return Buffer.concat([
    header,
    packed,
    hash,
    ...signatures(hash, wishes),
    Buffer.alloc(gap),
    ...heap,
    after,
  ]);
}

function headerOf(packed: number, unpacked: number, algorithm: number): Buffer {
  const header = Buffer.alloc(28);
  header.write("xar!");
  header.writeUInt16BE(28, 4);
  header.writeUInt16BE(1, 6);
  header.writeBigUInt64BE(BigInt(packed), 8);
  header.writeBigUInt64BE(BigInt(unpacked), 16);
  header.writeUInt32BE(algorithm, 24);
  return header;
}

function signatures(hash: Buffer, { digest = "sha256", rsa, cms, isHashedAgain, signing }: Wishes): Buffer[] {
  const found: Buffer[] = [];
  if (rsa) found.push(isHashedAgain ? sign("sha256", hash, rsa.key) : signHash(hash, digest, rsa));
  if (cms) {
    const bytes = signedData({ signer: cms, content: hash, ...signing });
    found.push(Buffer.concat([bytes, Buffer.alloc(cmsRoom - bytes.length)]));
  }
  return found;
}

/** PKCS #1 v1.5 over a given hash. */
function signHash(hash: Buffer, digest: string, { key }: Identity): Buffer {
  const prefixes: Record<string, string> = {
    sha1: "3021300906052b0e03021a05000414",
    sha256: "3031300d060960864801650304020105000420",
    sha512: "3051300d060960864801650304020305000440",
    md5: "3020300c06082a864886f70d020505000410",
  };
  return privateEncrypt(key, Buffer.concat([Buffer.from(prefixes[digest] ?? "", "hex"), hash]));
}

const dataElement = (
  content: Uint8Array,
  stored: Buffer,
  at: number,
  isPacked: boolean,
  digest: string,
): string =>
  `<data><archived-checksum style="${digest}">${createHash(digest).update(stored).digest("hex")}</archived-checksum><encoding style="application/${
    isPacked ? "x-gzip" : "octet-stream"
  }"/><size>${content.length}</size><offset>${at}</offset><length>${stored.length}</length></data>`;

/** The elements of its folders contain it. */
function fileElement(path: string, data: string): string {
  const [name = "", ...below] = path.split("/");
  const inside =
    below.length > 0
      ? `<type>directory</type>${fileElement(below.join("/"), data)}`
      : `<type>file</type>${data}`;
  return `<file><name>${name}</name>${inside}</file>`;
}

const signatureElement = (
  element: string,
  style: string,
  at: number,
  size: number,
  certificates: readonly Buffer[],
): string =>
  `<${element} style="${style}"><offset>${at}</offset><size>${size}</size><KeyInfo><X509Data>${certificates
    .map((der) => `<X509Certificate>${der.toString("base64")}</X509Certificate>`)
    .join("")}</X509Data></KeyInfo></${element}>`;

export const payload = (files: readonly CpioFile[]): Buffer => gzipSync(cpio(files));

/** The files of an installer with one component. */
export const installer = (files: readonly CpioFile[], version = "26.8.1"): XarFile[] => [
  {
    path: "Distribution",
    content: Buffer.from("<installer-gui-script><title>Acme</title></installer-gui-script>"),
    isPacked: true,
  },
  {
    path: "acme.pkg/PackageInfo",
    content: Buffer.from(`<pkg-info identifier="com.example.acme" version="${version}"/>`),
    isPacked: true,
  },
  { path: "acme.pkg/Payload", content: payload(files) },
];
