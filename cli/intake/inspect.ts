// Imported directly, because index.ts also loads templates and pages, which doubles the memory of build jobs.

import {
  type FileSignature,
  type InspectedFile,
  type Inspection,
  inspectFiles,
} from "../../pipeline/policy/inspect-files.ts";
import { exitStatus } from "../../shared/errors.ts";
import { harmless, table } from "../terminal/cells.ts";
import { answer, type Host, type Output, type Style, say } from "../terminal/host.ts";
import { showReading } from "../terminal/progress.ts";
import { count } from "../terminal/words.ts";

interface InspectOptions {
  keys?: string;
  selfCheck?: string;
  jobs?: number;
}

export async function inspect(
  files: readonly string[],
  { keys, selfCheck, jobs }: InspectOptions,
  host: Host,
): Promise<number> {
  const reading = showReading(host);
  const context = { clock: host.clock, jobs, onProgress: reading.onProgress };
  const inspected = await inspectFiles({ files, keys, selfCheck }, context).finally(reading.end);
  const artifacts = inspected.map(({ file, inspection, metadata }) => ({
    file,
    ...inspection,
    package: metadata,
  }));
  answer<"inspect">(host, { artifacts }, () => describe(inspected, host.data));
  const bad = inspected.filter(({ inspection }) => inspection.verdict !== "ok");
  if (!host.json)
    say(host, `${count(files.length, "file")}, ${bad.length === 0 ? "all" : files.length - bad.length} ok.`);
  if (keys === undefined && bad.some(({ inspection }) => inspection.verdict === "untrusted-key"))
    say(host, "No key is allowed without --keys FOLDER.");
  return bad.length === 0 ? exitStatus.done : exitStatus.problems;
}

function describe(inspected: readonly InspectedFile[], output: Output): string {
  const rows = inspected.map(({ file, inspection: { verdict, type } }) => [verdict, type, file]);
  const lines = table(rows).split("\n");
  return inspected
    .flatMap(({ inspection }, index) => {
      const { verdict } = inspection;
      const rest = lines[index]?.slice(verdict.length) ?? "";
      return [output.style(colorOf(verdict), verdict) + rest, ...detailLines(inspection, output)];
    })
    .join("\n");
}

const colorOf = (verdict: string): readonly Style[] =>
  verdict === "ok" ? ["green"] : verdict === "unsigned" ? ["bold", "yellow"] : ["bold", "red"];

function detailLines(inspection: InspectedFile["inspection"], output: Output): string[] {
  const details = detailsOf(inspection);
  const width = Math.max(...details.map(([title]) => title.length));
  return details.map(([title, text]) => `  ${output.style("dim", title.padEnd(width))}  ${harmless(text)}`);
}

type Detail = [title: string, text: string];

const maxShown = 20;

function detailsOf(inspection: Inspection): Detail[] {
  const { verdict, type, reason, notes, file_signatures: files } = inspection;
  const inside = files.slice(0, maxShown).map(insideOf);
  if (files.length > maxShown) inside.push(`and ${files.length - maxShown} more`);
  return [
    verdict === "ok" ? ["checked", checks[type] ?? "its format; it has no signature"] : ["reason", reason],
    ...signerOf(inspection),
    ...factsOf(inspection),
    ...selfCheckOf(inspection),
    ...inside.map((text): Detail => ["inside", text]),
    ...notes.map((text): Detail => ["note", text]),
  ];
}

/** Unless the verdict is `ok`, the signer is only a claim. */
function signerOf({ verdict, key_id, signature }: Inspection): Detail[] {
  const title = verdict === "ok" ? "signed by" : "claims";
  const known = `${signature?.signer} ${signature?.display}`;
  const key = key_id === null || known.includes(key_id) ? [] : [`key ${key_id}`];
  const words = signature ? [signature.signer, ...key, signature.display] : key;
  return words.length === 0 ? [] : [[title, words.join(", ")]];
}

function factsOf({ facts }: Inspection): Detail[] {
  const plain = Object.entries(facts).filter(([, value]) => value !== null && typeof value !== "object");
  const words = plain.map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
  return words.length === 0 ? [] : [["says", words.join(", ")]];
}

function selfCheckOf({ cryptolib_post: post }: Inspection): Detail[] {
  if (!post) return [];
  return [
    ["self-check", "expected_hash" in post ? post.expected_hash : perArch(post.expected_hash_per_arch)],
  ];
}

function insideOf({ name, verdict, signature }: FileSignature): string {
  const words = [name, verdict];
  if (signature?.signer) words.push(signature.signer);
  if (signature)
    words.push("fingerprint" in signature ? signature.fingerprint : perArch(signature.fingerprint_per_arch));
  return words.join(", ");
}

const perArch = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([arch, value]) => `${arch} ${value}`)
    .join(", ");

const disk = "it needs no other file; its tables are inside the file and do not overlap; it has no signature";

/** The checks behind `ok`, by file type; docs/inspection.md has the same text. */
export const checks: Readonly<Record<string, string>> = {
  rpm: "every signature that relcat can read, digests of header and payload, signatures of the files inside",
  deb: "every signature, over exactly debian-binary, control and data; both archives unpack",
  msi: "signature over all streams, chain to an allowed certificate, timestamp; signatures of the executables inside",
  pe: "Authenticode signature over the file, page hashes, chain to an allowed certificate, timestamp",
  pkg: "signatures over the table of contents, chain to an allowed certificate, digest of every file; code signatures inside",
  macho: "code signature of each architecture: hash of every page, chain to an allowed certificate",
  helm: "signature of the provenance file next to it, which contains the name and digest of this file and the name and version of the chart",
  "helm-prov": "signature; file name, digest, name and version of the chart next to it",
  openpgp: "signature of the file next to it, or of a list of checksums and of the listed files next to it",
  tar: "its checksums; every path and link stays inside; it has no signature",
  qcow2: disk,
  vmdk: disk,
  vhd: `checksums of footer and header; ${disk}`,
  vhdx: `checksums of headers and tables; ${disk}`,
  vdi: disk,
  raw: "size and partition table; it has no signature",
  ova: "order of its files, digests in its manifest, certificate if there is one; its disks as files of their own type",
  gce: "contains one disk.raw and nothing else; it has no signature",
  incus: "metadata.yaml; it has no signature",
  xva: "description, order and checksums of the chunks; it has no signature",
  vma: "checksums of header and extents; every cluster belongs to a disk; it has no signature",
};
