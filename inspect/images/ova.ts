import { createHash, type Hash } from "node:crypto";
import { smallText } from "../archives/small-text.ts";
import type { TarEntry } from "../archives/tar-paths.ts";
import type { InspectOptions } from "../inspection.ts";
import { Fault, malformed, type Verdict } from "../verdict.ts";
import type { ImageFindings, OpenTar, TarContents } from "./content.ts";
import { mostDisks, passingDisk, recordDisks } from "./disk-facts.ts";
import { verifyCertificate } from "./ova-certificate.ts";
import { type Envelope, readEnvelope, refuseOrder } from "./ova-envelope.ts";
import type { OvaFile } from "./ova-manifest.ts";
import {
  type Manifest,
  type ManifestDigest,
  manifestDigests,
  readManifest,
  refuseDigests,
} from "./ova-manifest.ts";

/** A virtual machine in one file: description, manifest, signature and disks (DMTF DSP0243). */
export const ovaTar: OpenTar = (findings, options): TarContents => {
  findings.type = "ova";
  const files: OvaFile[] = [];
  return {
    entry(entry) {
      if (entry.type !== "file" || entry.path.includes("/"))
        throw malformed(`the OVA has ${entry.path}, expected files only, without folders`);
      if (files.some(({ path }) => path === entry.path)) throw malformed(`the OVA has ${entry.path} twice`);
      if (files.length > mostDisks) throw new Fault("refuse", `the OVA has over ${mostDisks} files`);
      const { file, take } = passingFile(entry, findings, manifestOf(files));
      files.push(file);
      return take;
    },
    end: () => finish(files, findings, options),
  };
};

async function finish(
  files: readonly OvaFile[],
  findings: ImageFindings,
  options: InspectOptions,
): Promise<Verdict> {
  const envelope = await readEnvelope(files[0]?.text?.text() ?? "");
  if (envelope.name !== null) findings.facts.name = envelope.name;
  refuseOrder(files, envelope);
  recordCapacities(files, envelope, findings);
  const manifest = manifestOf(files);
  const certificate = files.find(({ path }) => path.endsWith(".cert"));
  if (!manifest) {
    if (certificate) throw malformed(`the OVA has ${certificate.path} and no manifest that it could sign`);
    findings.notes.push("it has no manifest, so its files cannot be verified");
    return "ok";
  }
  findings.facts.manifest = [...new Set(manifest.digests.values().map(({ name }) => name))].join(", ");
  refuseDigests(files, manifest);
  if (certificate?.text)
    findings.facts.signed_by = verifyCertificate(certificate.text.text(), manifest, options);
  return "ok";
}

function manifestOf(files: readonly OvaFile[]): Manifest | undefined {
  const file = files.find(({ path }) => path.endsWith(".mf"));
  return file?.text && readManifest(file.path, file.text);
}

const isText = (path: string) => /\.(?:ovf|mf|cert)$/.test(path);

function passingFile(entry: TarEntry, findings: ImageFindings, manifest: Manifest | undefined) {
  const { path, size } = entry;
  const hashes = new Map<ManifestDigest, Hash>();
  // The manifest may come last, so until then every digest is computed.
  for (const name of manifest ? [manifest.digests.get(path)?.name] : manifestDigests)
    if (name) hashes.set(name, createHash(name));
  const text = isText(path) ? smallText(entry) : undefined;
  const file: OvaFile = {
    path,
    size,
    text,
    disk: undefined,
    digest: (name) => hashes.get(name)?.copy().digest("hex") ?? "",
  };
  const consume = text?.take ?? passingDisk(entry, findings, (facts) => (file.disk = facts));
  const take = (chunk: Uint8Array) => {
    for (const hash of hashes.values()) hash.update(chunk);
    consume(chunk);
  };
  return { file, take };
}

function recordCapacities(files: readonly OvaFile[], { disks }: Envelope, findings: ImageFindings): void {
  recordDisks(
    files.flatMap(({ path, disk }) => (disk ? [{ name: path, ...disk }] : [])),
    findings,
  );
  for (const { path, disk } of files) {
    const declared = disks.find(({ file }) => file === path)?.capacity;
    if (disk && declared !== undefined && disk.virtual_size !== declared)
      findings.notes.push(
        `${path} is a disk of ${disk.virtual_size} bytes, its description says ${declared}`,
      );
  }
}
