import { type CpioEntry, cpioReader } from "../../archives/cpio.ts";
import { compressionOf, decompress } from "../../archives/decompress.ts";
import type { Xar, XarFile } from "../../archives/xar.ts";
import { type ByteSource, bytesSource, partOf } from "../../bytes/byte-source.ts";
import { heldFile, tooLarge } from "../../held-file.ts";
import type { FileSignature, Found, InspectOptions } from "../../inspection.ts";
import type { SelfCheckFinder } from "../../self-check.ts";
import { Fault, type Verdict } from "../../verdict.ts";
import { machOSignatures } from "../macho/file.ts";
import { isMachO } from "../macho/macho.ts";

interface Into {
  options: InspectOptions;
  finder: SelfCheckFinder;
  found: Found;
}

/** Payload is installed; Scripts runs during the installation. */
const archives = ["Payload", "Scripts"];

/** Reads the payloads of all components. @throws Fault */
export async function readPkgContents({ files, heap }: Xar, into: Into): Promise<Verdict> {
  const signatures: FileSignature[] = [];
  const notes: string[] = [];
  into.found.file_signatures = signatures;
  let limit = into.options.limit;
  for (const file of files) {
    const name = file.path.split("/").at(-1) ?? "";
    const [content] = file.parts;
    if (!archives.includes(name) || !content) continue;
    const prefix = name === "Payload" ? "" : `${name}/`;
    try {
      limit -= await readArchive(archiveIn(heap, file), { ...into, prefix, limit, signatures });
    } catch (error) {
      if (!(error instanceof Fault) || error.verdict !== "unsupported-format") throw error;
      notes.push(`${file.path}: ${error.message}; its files were not looked at`);
    }
  }
  into.found.notes = [...(into.found.notes ?? []), ...notes];
  return "ok";
}

function archiveIn(heap: ByteSource, { path, parts: [content] }: XarFile): ByteSource {
  if (content?.encoding !== "application/octet-stream")
    throw new Fault("unsupported-format", `it is stored as ${content?.encoding}, expected as it is`);
  return partOf(heap, content.offset, content.size, path);
}

interface Archive extends Into {
  prefix: string;
  limit: number;
  signatures: FileSignature[];
}

/** @returns unpacked size in bytes */
async function readArchive(source: ByteSource, archive: Archive): Promise<number> {
  const head = Buffer.from(source.read(0, Math.min(6, source.size)));
  if (head.toString("latin1", 0, 4) === "pbzx")
    throw new Fault("unsupported-format", "it is compressed as pbzx, expected gzip");
  const cpio = cpioReader((entry) => (entry.type === "file" ? fileSink(entry, archive) : undefined));
  const unpacked = await decompress(source, compressionOf(head), archive.limit, cpio.write);
  cpio.end();
  return unpacked;
}

/**
 * Programs need random access and are inspected when complete; the self-check search works per architecture.
 */
function fileSink({ path, size }: CpioEntry, { prefix, finder, options, signatures }: Archive) {
  const name = `${prefix}${path}`;
  const held = heldFile(size, isMachO, finder.file(name));
  let left = size;

  function inspect(): void {
    const bytes = held.bytes();
    if (bytes === "too-large") signatures.push(tooLarge(name));
    else if (bytes)
      signatures.push(...machOSignatures(bytesSource(bytes, name), options, finder).file_signatures);
    held.release();
  }

  return (chunk: Uint8Array) => {
    held.write(chunk);
    left -= chunk.length;
    if (left === 0) inspect();
  };
}
