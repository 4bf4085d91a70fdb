import type { ByteSource } from "../../system/byte-source.ts";
import type { TarEntry } from "../archives/tar.ts";
import type { Fact, InspectOptions, Verdict } from "../inspection.ts";
import type { SelfCheckFinder } from "../self-check.ts";

/** What becomes the inspection, filled while reading goes on. */
export interface Told {
  type: string;
  facts: Record<string, Fact>;
  notes: string[];
  /** What looked through a client's files. */
  finder?: SelfCheckFinder;
}

/** Content that comes by once, in chunks. */
export interface Content {
  write(chunk: Uint8Array): void;
  /** @throws Fault */
  end(): Verdict | Promise<Verdict>;
}

export type OpenContent = (told: Told, options: InspectOptions, source: ByteSource) => Content;

/** What a tar archive is, told by its first entry. */
export interface TarContents {
  entry(entry: TarEntry): ((chunk: Uint8Array) => void) | undefined;
  /** After the last entry. @throws Fault */
  end(): Verdict | Promise<Verdict>;
}

export type OpenTar = (told: Told, options: InspectOptions) => TarContents;
