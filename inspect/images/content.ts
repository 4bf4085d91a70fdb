import type { TarEntry } from "../archives/tar.ts";
import type { ByteSource } from "../bytes/byte-source.ts";
import type { Fact, InspectOptions } from "../inspection.ts";
import type { SelfCheckFinder } from "../self-check.ts";
import type { Verdict } from "../verdict.ts";

/** Collects the fields of the inspection during reading. */
export interface ImageFindings {
  type: string;
  facts: Record<string, Fact>;
  notes: string[];
  /** Set if a client's files were searched. */
  finder?: SelfCheckFinder;
}

/** Receives content in one pass; it cannot be read again. */
export interface Content {
  write(chunk: Uint8Array): void;
  end(): Verdict | Promise<Verdict>;
}

export type OpenContent = (findings: ImageFindings, options: InspectOptions, source: ByteSource) => Content;

/** Reader for one kind of tar archive, chosen by its first entry. */
export interface TarContents {
  entry(entry: TarEntry): ((chunk: Uint8Array) => void) | undefined;
  /** Called after the last entry. @throws Fault */
  end(): Verdict | Promise<Verdict>;
}

export type OpenTar = (findings: ImageFindings, options: InspectOptions) => TarContents;
