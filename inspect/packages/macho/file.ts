import { type ByteSource, gaps, piecesOf, type Uncovered } from "../../bytes/byte-source.ts";
import { type Inspection, type InspectOptions, inspection, worstOf } from "../../inspection.ts";
import { type SelfCheckFinder, selfCheckFinder, withSelfCheck } from "../../self-check.ts";
import { Fault } from "../../verdict.ts";
import { type Slice, slicesOf } from "./macho.ts";
import { inspectSlice, type SliceSignature } from "./signature.ts";

/** Inspects a standalone program or library of macOS. */
export async function inspectMachO(source: ByteSource, options: InspectOptions): Promise<Inspection> {
  const finder = selfCheckFinder(undefined);
  return withSelfCheck(machOSignatures(source, options, finder), finder);
}

/** Inspects code signatures, also of a file inside a package. The finder gets the content of each architecture. */
export function machOSignatures(
  source: ByteSource,
  options: InspectOptions,
  finder: SelfCheckFinder,
): Inspection {
  try {
    const slices = slicesOf(source);
    for (const { arch, content } of slices) {
      const scan = finder.file(source.name, arch);
      if (scan) for (const { bytes } of piecesOf(content, 0, content.size)) scan(bytes);
    }
    return joined(
      source,
      slices,
      slices.map((slice) => inspectSlice(slice, options)),
    );
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { verdict, message: reason } = error;
    return inspection("macho", verdict, {
      reason,
      file_signatures: [{ name: source.name, signature: null, verdict }],
    });
  }
}

/** The worst architecture decides the verdict. */
function joined(
  source: ByteSource,
  slices: readonly Slice[],
  signatures: readonly SliceSignature[],
): Inspection {
  const { verdict, reason } = worstOf(signatures);
  const first = signatures.find(({ signature }) => signature);
  const signer = first?.signature?.signer;
  const { identifier, team } = signatures.find(({ identifier }) => identifier) ?? {};
  const archs = signatures.map(({ arch }) => arch);
  const hashes = signatures.flatMap(({ arch, fingerprint }) =>
    fingerprint ? [[arch, fingerprint] as const] : [],
  );
  const signature =
    hashes.length === 0
      ? null
      : { ...(signer && { signer }), fingerprint_per_arch: Object.fromEntries(hashes) };
  return inspection("macho", verdict, {
    reason,
    key_id: first?.keyId ?? null,
    signature: first?.signature ?? null,
    file_signatures: [{ name: source.name, signature, verdict }],
    facts: { archs, ...(identifier && { identifier }), ...(team && { team }) },
    notes: [...new Set(signatures.flatMap(({ notes }) => notes))],
    uncovered: [...betweenSlices(slices, source), ...signatures.flatMap(({ uncovered }) => uncovered)],
  });
}

/** Gaps between slices, and the alignment field, which no signature covers. */
function betweenSlices(slices: readonly Slice[], source: ByteSource): Uncovered[] {
  const [first] = slices;
  if (!first || (slices.length === 1 && first.from === 0)) return [];
  const size = Buffer.from(source.read(0, 4)).readUInt32BE(0) === 0xcafebabe ? 20 : 32;
  const table = { from: 0, to: 8 + size * slices.length };
  const parts = slices.map(({ from, content }) => ({ from, to: from + content.size }));
  const aligned = slices.map((_, index) => 8 + size * index + (size === 20 ? 16 : 24));
  return [
    ...gaps([table, ...parts], source.size, "between the parts of a Mach-O file"),
    ...aligned.map((from) => ({
      from,
      to: from + size - (size === 20 ? 16 : 24),
      why: "the alignment of a part of a Mach-O file",
    })),
  ];
}
