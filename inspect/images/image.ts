import { createHash } from "node:crypto";
import { compressionOf, decompress } from "../archives/decompress.ts";
import { blockSize as headSize, isTarHeader } from "../archives/tar.ts";
import type { ByteSource } from "../bytes/byte-source.ts";
import { type InspectOptions, type Reader, settled } from "../inspection.ts";
import { withSelfCheck } from "../self-check.ts";
import { refused } from "../verdict.ts";
import { type Content, type ImageFindings, type OpenContent, recordDisk } from "./disk-facts.ts";
import { headAndTail } from "./disks/fields.ts";
import { tarContent } from "./tar-content.ts";
import { vmaContent } from "./vma.ts";

/**
 * Inspects a virtual disk or an archive of disks, compressed or not, or an archive of a client's files. Compressed and
 * archived content streams past once, in the pass that also hashes the file; only the tables of other disks are read.
 */
export const inspectImage: Reader = async (source, options) => {
  const findings: ImageFindings = { type: "unknown", facts: {}, notes: [] };
  const { facts, notes } = findings;
  const inspection = await settled("", { facts, notes }, () => readImage(source, options, findings));
  const named = { ...inspection, type: findings.type };
  return findings.finder ? withSelfCheck(named, findings.finder) : named;
};

async function readImage(
  source: ByteSource,
  options: InspectOptions,
  findings: ImageFindings,
): Promise<void> {
  const head = Buffer.from(source.read(0, Math.min(headSize, source.size)));
  if (compressionOf(head) !== "none") return readCompressed(source, options, findings);
  const open = contentOf(head, source.name);
  if (!open) return recordDisk(source, findings);
  const content = open(findings, options, source);
  await source.each(content.write);
  return content.end();
}

/** Undefined: a disk with random access. */
function contentOf(head: Buffer, name: string): OpenContent | undefined {
  if (head.toString("latin1", 0, 4) === "VMA\0") return vmaContent;
  return isTarHeader(head) || /\.(?:tar|ova|xva)(?:\.\w+)?$|\.t[gx]z$/i.test(name) ? tarContent : undefined;
}

const diskContent: OpenContent = (findings, _options, { name }) => {
  const { write, end } = headAndTail(name);
  return { write, end: () => recordDisk(end(), findings) };
};

async function readCompressed(
  source: ByteSource,
  options: InspectOptions,
  findings: ImageFindings,
): Promise<void> {
  const compression = compressionOf(source.read(0, Math.min(headSize, source.size)));
  findings.type = compression;
  findings.facts.compression = compression;
  const hash = createHash("sha256");
  const content = whenKnown((head) => {
    if (["gzip", "xz", "zstd"].includes(compressionOf(head)))
      throw refused(`${source.name} is compressed twice`);
    return (contentOf(head, source.name) ?? diskContent)(findings, options, source);
  });
  findings.facts.unpacked_size = await decompress(source, compression, options.limit, (chunk) => {
    hash.update(chunk);
    content.write(chunk);
  });
  findings.facts.inner_sha256 = hash.digest("hex");
  return content.end();
}

/** Buffers content until its beginning is long enough to recognize the format. */
function whenKnown(open: (head: Buffer) => Content): Content {
  let head = Buffer.alloc(0);
  let content: Content | undefined;
  const begin = () => {
    content = open(head);
    content.write(head);
    return content;
  };
  return {
    write(chunk) {
      if (content) return content.write(chunk);
      head = Buffer.concat([head, chunk]);
      if (head.length >= headSize) begin();
    },
    end: () => (content ?? begin()).end(),
  };
}
