import { createHash, type Hash, verify } from "node:crypto";
import { type SmallText, smallText } from "../archives/packed-tar.ts";
import type { TarEntry } from "../archives/tar.ts";
import { readXml, type XmlElement } from "../bytes/xml.ts";
import type { InspectOptions } from "../inspection.ts";
import { digests, refuseWeak } from "../signatures/digest.ts";
import { chainOf, readCertificate, subjectOf, usages } from "../signatures/x509.ts";
import { badDigest, badSignature, malformed, refused } from "../verdict.ts";
import {
  type DiskFacts,
  type ImageFindings,
  maxDisks,
  type OpenTar,
  passingDisk,
  recordDisks,
  type TarContents,
} from "./disk-facts.ts";

/** A virtual machine in one file: description, manifest, signature and disks (DMTF DSP0243). */
export const ovaTar: OpenTar = (findings, options): TarContents => {
  findings.type = "ova";
  const files: OvaFile[] = [];
  return {
    entry(entry) {
      if (entry.type !== "file" || entry.path.includes("/"))
        throw malformed(`the OVA has ${entry.path}, expected files only, without folders`);
      if (files.some(({ path }) => path === entry.path)) throw malformed(`the OVA has ${entry.path} twice`);
      if (files.length > maxDisks) throw refused(`the OVA has over ${maxDisks} files`);
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
): Promise<void> {
  const envelope = await readEnvelope(files[0]?.text?.text() ?? "");
  if (envelope.name !== null) findings.facts.name = envelope.name;
  refuseOrder(files, envelope);
  recordCapacities(files, envelope, findings);
  const manifest = manifestOf(files);
  const certificate = files.find(({ path }) => path.endsWith(".cert"));
  if (!manifest) {
    if (certificate) throw malformed(`the OVA has ${certificate.path} and no manifest that it could sign`);
    findings.notes.push("it has no manifest, so its files cannot be verified");
    return;
  }
  findings.facts.manifest = [...new Set(manifest.digests.values().map(({ name }) => name))].join(", ");
  refuseDigests(files, manifest);
  if (certificate?.text)
    findings.facts.signed_by = verifyCertificate(certificate.text.text(), manifest, options);
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

/**
 * Verifies the signature over a manifest: one line with the RSA signature, then PEM certificates, the signer's first.
 * @throws Fault malformed, bad-signature, weak-digest, untrusted-key, expired-certificate
 */
function verifyCertificate(text: string, manifest: Manifest, { keys, now }: InspectOptions): string {
  const [first = ""] = text.split(/\r?\n/, 1);
  const { file, name, hex } = readDigestLine(first, "its certificate");
  if (file !== manifest.path) throw malformed(`its certificate signs ${file}, expected ${manifest.path}`);
  const [signer, ...among] = certificatesIn(text);
  if (!signer) throw malformed("its certificate file has no certificate");
  const signature = Buffer.from(hex, "hex");
  if (!verify(name, manifest.bytes, signer.publicKey, signature))
    throw badSignature(`${manifest.path} is not what ${subjectOf(signer)} signed`);
  refuseWeak(digests[name], "the signature of its manifest");
  for (const digest of manifest.digests.values()) refuseWeak(digests[digest.name], "its manifest");
  chainOf(signer, { among, keys, at: now, usage: usages.codeSigning });
  return subjectOf(signer);
}

function certificatesIn(text: string) {
  const armored = text.matchAll(/-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g);
  return [...armored].map(([, base64 = ""]) => readCertificate(Buffer.from(base64, "base64")));
}

type Envelope = Awaited<ReturnType<typeof readEnvelope>>;

/** The fields of an OVF that concern files, which are in the order that the archive must have. @throws Fault malformed */
async function readEnvelope(text: string) {
  const envelope = await readXml(text, ["Envelope", "ovf:Envelope"], "the OVA's description");
  const files = within(envelope, "References", "File").map((file) => ({
    id: attributeOf(file, "id"),
    path: attributeOf(file, "href") ?? "",
    size: numberOf(attributeOf(file, "size")),
  }));
  const paths = new Map(files.flatMap(({ id, path }) => (id ? [[id, path]] : [])));
  const disks = within(envelope, "DiskSection", "Disk").map((disk) => ({
    file: paths.get(attributeOf(disk, "fileRef") ?? ""),
    capacity: capacityOf(disk),
  }));
  const [system] = named(envelope, "VirtualSystem");
  return { files, disks, name: system ? (named(system, "Name")[0]?.text ?? null) : null };
}

const named = (element: XmlElement, name: string): XmlElement[] => [
  ...element.all(name),
  ...element.all(`ovf:${name}`),
];

const within = (element: XmlElement, section: string, name: string): XmlElement[] =>
  named(element, section).flatMap((found) => named(found, name));

const attributeOf = ({ attributes }: XmlElement, name: string): string | undefined =>
  attributes[`ovf:${name}`] ?? attributes[name];

const numberOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

/** The unit is bytes, or an expression such as `byte * 2^20`. */
function capacityOf(disk: XmlElement): number | undefined {
  const capacity = numberOf(attributeOf(disk, "capacity"));
  const unit = (attributeOf(disk, "capacityAllocationUnits") ?? "byte").match(
    /^byte(?:\s*\*\s*2\^(\d{1,2}))?$/,
  );
  return capacity !== undefined && unit ? capacity * 2 ** Number(unit[1] ?? 0) : undefined;
}

const isSeal = ({ path }: OvaFile) => /\.(?:mf|cert)$/.test(path);

/** Required order: description, manifest and certificate (here or last), files as listed. @throws Fault malformed */
function refuseOrder(files: readonly OvaFile[], { files: wanted }: Envelope): void {
  const [, ...others] = files;
  const content = others.filter((file) => !isSeal(file));
  for (const [index, { path, size }] of content.entries()) {
    const expected = wanted[index];
    if (expected?.path !== path)
      throw malformed(
        expected
          ? `the OVA has ${path}, expected ${expected.path}`
          : `the OVA contains ${path}, which its description does not list`,
      );
    if (expected.size !== undefined && expected.size !== size)
      throw malformed(`${path} has ${size} bytes, the OVA's description says ${expected.size}`);
  }
  const missing = wanted[content.length];
  if (missing) throw malformed(`the OVA has no ${missing.path}, which its description names`);
  const seals = others.map(isSeal).join(" ");
  const inPlace = /^(?:true ?){0,2}(?:false ?)*$|^(?:false ?)*(?:true ?){0,2}$/.test(seals);
  const kinds = others.filter(isSeal).map(({ path }) => path.replace(/^.*\./, ""));
  if (!inPlace || !["", "mf", "mf cert", "cert"].includes(kinds.join(" ")))
    throw malformed("the OVA has its manifest or certificate in a place where no reader looks");
}

/** A member of the archive: a text of the package, or a referenced file. */
interface OvaFile {
  path: string;
  size: number;
  text: SmallText | undefined;
  disk: DiskFacts | undefined;
  digest(name: ManifestDigest): string;
}

/** Names of node:crypto; a manifest writes them in upper case. */
const manifestDigests = ["sha1", "sha256", "sha512"] as const;
type ManifestDigest = (typeof manifestDigests)[number];

interface ListedDigest {
  name: ManifestDigest;
  hex: string;
}

type Manifest = ReturnType<typeof readManifest>;

const line = /^(SHA1|SHA256|SHA512)\s?\(([^()]+)\)\s?=\s?([0-9a-fA-F]+)$/;

/** Format: `SHA256(FILE)= HEX`. @throws Fault malformed */
function readDigestLine(text: string, what: string): ListedDigest & { file: string } {
  const [, name = "", file, hex] = text.match(line) ?? [];
  const digest = manifestDigests.find((known) => known === name.toLowerCase());
  if (!digest || !file || !hex)
    throw malformed(
      `${what} has the line ${JSON.stringify(text)}, expected SHA256(FILE)= and hexadecimal digits`,
    );
  return { name: digest, file, hex: hex.toLowerCase() };
}

/** Digests by the name of their file. @throws Fault malformed */
function readManifest(path: string, text: SmallText) {
  const digests = new Map<string, ListedDigest>();
  for (const row of text.text().split(/\r?\n/)) {
    if (row === "") continue;
    const { file, ...digest } = readDigestLine(row, path);
    if (digests.has(file)) throw malformed(`${path} has ${file} twice`);
    digests.set(file, digest);
  }
  return { path, bytes: text.bytes(), digests };
}

/** @throws Fault malformed, if the manifest does not list exactly these files; bad-digest */
function refuseDigests(files: readonly OvaFile[], { path, digests }: Manifest): void {
  const listed = files.filter((file) => !isSeal(file));
  const unlisted = listed.find((file) => !digests.has(file.path));
  if (unlisted) throw malformed(`${path} does not list ${unlisted.path}`);
  for (const [name, expected] of digests) {
    const file = listed.find((file) => file.path === name);
    if (!file) throw malformed(`${path} lists ${name}, which is not in the OVA`);
    const digest = file.digest(expected.name);
    if (digest === expected.hex) continue;
    throw badDigest(`${name} has the ${expected.name.toUpperCase()} ${digest}, ${path} says ${expected.hex}`);
  }
}
