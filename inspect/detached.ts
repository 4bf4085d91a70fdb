import { createHash } from "node:crypto";
import { type ByteSource, hashWhole, readSmall, utf8 } from "./bytes/byte-source.ts";
import { type Found, type InspectOptions, type Reader, settled } from "./inspection.ts";
import { claimedSignature, verifiedText, verifierOf } from "./signatures/openpgp.ts";
import { isCleartext } from "./signatures/openpgp-text.ts";
import { badDigest, malformed, refused, unsupported } from "./verdict.ts";

/** Inspects a detached signature of the file with the same name without the suffix, or a signed checksum list. */
export const inspectSignatureFile: Reader = (source, options) => {
  const found: Found = {};
  return settled("openpgp", found, () => {
    const bytes = readSmall(source);
    const read = isCleartext(bytes) ? readChecksums : readDetached;
    return read(source.name, bytes, options, found);
  });
};

async function readDetached(
  name: string,
  bytes: Uint8Array,
  options: InspectOptions,
  found: Found,
): Promise<void> {
  const signature = await claimedSignature(bytes, { base: 0, what: name, style: "gpg", options, found });
  const signs = name.replace(/\.(?:asc|sig|gpg)$/, "");
  const signed = signs === name ? undefined : options.openSibling?.(signs);
  if (!signed) throw refused(`the file that ${name} signs is not next to it, expected ${signs} there`);
  const { hash, conclude } = verifierOf(signature, "binary", options);
  await hashWhole(signed, hash);
  await conclude();
  found.facts = { signs };
}

/**
 * A signed list, such as `SHA256SUMS.asc`. Files of the folder must match it, and an unsigned copy must be identical.
 * @throws Fault as verifiedText; bad-digest
 */
async function readChecksums(
  name: string,
  bytes: Uint8Array,
  options: InspectOptions,
  found: Found,
): Promise<void> {
  const text = await verifiedText(bytes, name, options, found);
  const sums = sumsOf(text, name);
  found.facts = { files: Object.fromEntries(sums) };
  refuseOtherCopy(name, text, options);
  const missing: string[] = [];
  for (const [file, expected] of sums) {
    const source = options.openSibling?.(file);
    if (!source) missing.push(file);
    else await refuseOtherSum(file, expected, source);
  }
  if (missing.length > 0)
    found.notes = [`Not compared, because the files are missing: ${missing.join(", ")}.`];
}

/** Format of sha256sum(1). */
function sumsOf(text: string, name: string): [file: string, sum: string][] {
  const lines = text.split("\n").map((line) => line.match(/^([0-9a-f]{64}) [ *](?!\.{1,2}$)([^/\\\0]+)$/));
  const sums = lines.map((match): [string, string] => {
    if (!match) throw unsupported(`${name} signs a text, expected lines of sha256sum alone`);
    return [match[2] ?? "", match[1] ?? ""];
  });
  if (new Set(sums.map(([file]) => file)).size < sums.length) throw malformed(`${name} has a file twice`);
  return sums;
}

function refuseOtherCopy(name: string, text: string, options: InspectOptions): void {
  const plain = name.replace(/\.asc$/, "");
  const copy = plain === name ? undefined : options.openSibling?.(plain);
  if (copy && utf8(readSmall(copy), plain).trimEnd() !== text)
    throw badDigest(`${plain} is not the list that ${name} signs`);
}

async function refuseOtherSum(file: string, expected: string, source: ByteSource): Promise<void> {
  const sum = (await hashWhole(source, createHash("sha256"))).digest("hex");
  if (sum !== expected) throw badDigest(`${file} has the SHA-256 ${sum}, its list says ${expected}`);
}
