import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { lastNotGreater } from "../selection/binary-search.ts";

/** Blocks that stay unpacked: who asks for a line asks for its neighbours, and for what was said of them later. */
const unpackedAtOnce = 4;

interface Block {
  /** In characters of the whole. */
  start: number;
  text: string | Uint8Array;
}

/**
 * A text out of which lines are asked for. One of several pieces is long, and kept compressed: a ledger of 250,000 records
 * would take 103 MB, and takes a fifth of it.
 */
export class LinedText {
  private readonly blocks: Block[] = [];
  private readonly unpacked = new Map<Block, string>();
  private length = 0;

  /** @param piece ends with a line, unless it is the last @returns where it begins */
  append(piece: string): number {
    const [first] = this.blocks;
    if (typeof first?.text === "string") first.text = packed(first.text);
    const start = this.length;
    this.blocks.push({ start, text: first ? packed(piece) : piece });
    this.length += piece.length;
    return start;
  }

  /** The whole, in pieces. */
  *pieces(): Generator<string> {
    for (const block of this.blocks) yield textOf(block);
  }

  get text(): string {
    return [...this.pieces()].join("");
  }

  /** @param start where a line begins that ends */
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
    // Those that were asked for last stand at the end.
    this.unpacked.delete(block);
    this.unpacked.set(block, text);
    const [oldest] = this.unpacked.keys();
    if (oldest && this.unpacked.size > unpackedAtOnce) this.unpacked.delete(oldest);
    return text;
  }
}

/** Higher levels do not compress lines of digests better. */
const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const packed = (text: string): Uint8Array => zstdCompressSync(text, fast);

const textOf = ({ text }: Block): string =>
  typeof text === "string" ? text : zstdDecompressSync(text).toString();
