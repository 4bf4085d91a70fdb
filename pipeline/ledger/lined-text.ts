import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { lastNotGreater } from "../../shared/binary-search.ts";

/**
 * Number of blocks that stay decompressed. Neighbouring lines are usually read together, as are a line and
 * its later changes.
 */
const unpackedAtOnce = 4;

interface Block {
  /** Offset in the whole text, in characters. */
  start: number;
  text: string | Uint8Array;
}

/**
 * A text from which single lines are read. Long texts arrive in several pieces and are stored compressed: a
 * ledger of 250,000 records needs a fifth of its 103 MB.
 */
export class LinedText {
  private readonly blocks: Block[] = [];
  private readonly unpacked = new Map<Block, string>();
  private length = 0;

  /** @param piece ends with a line feed, unless it is the last @returns its offset */
  append(piece: string): number {
    const [first] = this.blocks;
    if (typeof first?.text === "string") first.text = packed(first.text);
    const start = this.length;
    this.blocks.push({ start, text: first ? packed(piece) : piece });
    this.length += piece.length;
    return start;
  }

  *pieces(): Generator<string> {
    for (const block of this.blocks) yield textOf(block);
  }

  get text(): string {
    return [...this.pieces()].join("");
  }

  /** @param start offset of a line that ends with a line feed */
  lineAt(start: number): string {
    const startOf = (index: number) => this.blocks[index]?.start ?? 0;
    const block = this.blocks[lastNotGreater(this.blocks.length, startOf, start)];
    if (!block) return "";
    const text = this.textNow(block);
    const at = start - block.start;
    return text.slice(at, text.indexOf("\n", at));
  }

  private textNow(block: Block): string {
    if (typeof block.text === "string") return block.text;
    const text = this.unpacked.get(block) ?? textOf(block);
    // Moved to the end, so that the least recently used block is dropped first.
    this.unpacked.delete(block);
    this.unpacked.set(block, text);
    const [oldest] = this.unpacked.keys();
    if (oldest && this.unpacked.size > unpackedAtOnce) this.unpacked.delete(oldest);
    return text;
  }
}

/** Higher levels are slower and do not compress the digests in the lines any better. */
const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const packed = (text: string): Uint8Array => zstdCompressSync(text, fast);

const textOf = ({ text }: Block): string =>
  typeof text === "string" ? text : zstdDecompressSync(text).toString();
