import { Fault } from "../../documents/verdict.ts";
import { type ByteSource, partOf } from "../../system/byte-source.ts";
import { cpioReader } from "../archives/cpio.ts";
import { compressionOf, decompress } from "../archives/decompress.ts";
import type { SelfCheckFinder } from "../self-check.ts";
import { longOf } from "./rpm-checks.ts";
import { integersOf, textOf } from "./rpm-header.ts";
import { type RpmLayout, signatureTags } from "./rpm-layout.ts";

const payloadFormat = 1124;
const headLength = 16;

/**
 * Reads the files of the payload.
 * @throws Fault refuse beyond the size limit; bad-digest; malformed; unsupported-format
 */
export async function readRpmPayload(
  source: ByteSource,
  { main, signatures, size }: RpmLayout,
  limit: number,
  finder: SelfCheckFinder,
): Promise<void> {
  const format = textOf(main, payloadFormat) ?? "cpio";
  if (format !== "cpio")
    throw new Fault("unsupported-format", `its payload has the format ${format}, expected cpio`);
  const payload = partOf(source, main.to, size - main.to);
  const compression = compressionOf(payload.read(0, Math.min(headLength, payload.size)));
  const cpio = cpioReader(({ path, type }) => (type === "file" ? finder.file(path) : undefined));
  const unpacked = await decompress(payload, compression, limit, cpio.write);
  cpio.end();
  const expected =
    integersOf(signatures, signatureTags.payloadSize)[0] ??
    longOf(signatures.tags.get(signatureTags.longArchiveSize)?.bytes);
  if (expected !== undefined && expected !== unpacked)
    throw new Fault("bad-digest", `the payload unpacks to ${unpacked} bytes, the package says ${expected}`);
}
