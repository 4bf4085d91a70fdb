import { hash } from "node:crypto";
import { parseJson } from "../shared/json.ts";
import type { ArtifactDocument } from "../shared/package-metadata.ts";
import { SyntaxProblem } from "../shared/source.ts";
import { type ByteSource, utf8 } from "./bytes/byte-source.ts";
import { Fault, malformed } from "./verdict.ts";

/** A kind of file beside artifacts, known by the ending that follows the artifact's name. */
export interface DocumentFormat extends Pick<ArtifactDocument, "kind" | "format"> {
  ending: string;
}

export const documentFormats: readonly DocumentFormat[] = [
  { ending: ".cdx.json", kind: "sbom", format: "cyclonedx" },
  { ending: ".spdx.json", kind: "sbom", format: "spdx" },
  { ending: ".sigstore.json", kind: "attestation", format: "sigstore" },
  { ending: ".intoto.jsonl", kind: "attestation", format: "in-toto" },
  { ending: ".minisig", kind: "signature", format: "minisign" },
  { ending: ".asc", kind: "signature", format: "openpgp" },
  { ending: ".sig", kind: "signature", format: "sig" },
];

/** Size limit in bytes, because a document is read whole. */
const maxDocumentBytes = 64 << 20;

/** The artifact that a document belongs to. */
interface Subject {
  file: string;
  sha256: string;
}

/** Refuses a document about something else, as far as its format says; verifies no signature. @throws Fault malformed */
export function readDocument(
  source: ByteSource,
  { kind, format, ending }: DocumentFormat,
  subject: Subject,
): ArtifactDocument {
  if (source.size === 0) throw malformed("it is empty");
  if (source.size > maxDocumentBytes)
    throw malformed(`it has ${source.size} bytes, expected ${maxDocumentBytes} at most`);
  const bytes = source.read(0, source.size);
  return {
    kind,
    format,
    ...statedBy(bytes, format, subject),
    file: `${subject.file}${ending}`,
    sha256: hash("sha256", bytes),
    size: source.size,
  };
}

/** Members of its manifest entry that a document states itself. */
type Stated = Partial<Pick<ArtifactDocument, "kind" | "format" | "version">>;

/** @throws Fault malformed, for a document about another file */
function statedBy(bytes: Uint8Array, format: string, subject: Subject): Stated {
  if (format === "cyclonedx") return cyclonedx(jsonIn(bytes), subject);
  if (format === "spdx") return spdx(jsonIn(bytes), subject);
  if (format === "sigstore") return sigstore(jsonIn(bytes), subject);
  if (format === "in-toto") return inToto(bytes, subject);
  return {};
}

function cyclonedx(bom: unknown, subject: Subject): Stated {
  const { bomFormat, specVersion } = membersOf(bom);
  if (bomFormat !== "CycloneDX") throw malformed(`bomFormat is ${text(bomFormat)}, expected CycloneDX`);
  if (typeof specVersion !== "string" || !/^1\.([5-9]|[1-9]\d)$/.test(specVersion))
    throw malformed(`specVersion is ${text(specVersion)}, expected "1.5" or later`);
  requireName(bom, subject);
  return { version: specVersion };
}

/** SPDX 3 is another format than SPDX 2, with the same ending. It is attached and not read. */
function spdx(list: unknown, subject: Subject): Stated {
  const { spdxVersion, "@context": context } = membersOf(list);
  if (typeof context === "string" && /^https:\/\/spdx\.org\/rdf\/3\./.test(context))
    return { format: "spdx3" };
  if (spdxVersion !== "SPDX-2.3") throw malformed(`spdxVersion is ${text(spdxVersion)}, expected SPDX-2.3`);
  requireName(list, subject);
  return { version: "2.3" };
}

/** A bundle has a signature of the artifact, or a signed statement about it. */
function sigstore(bundle: unknown, subject: Subject): Stated {
  const { mediaType, messageSignature, dsseEnvelope } = membersOf(bundle);
  const [, usual, version = usual] =
    /^application\/vnd\.dev\.sigstore\.bundle(?:\.v(0\.\d)\+json|\+json;version=(0\.\d))$/.exec(
      typeof mediaType === "string" ? mediaType : "",
    ) ?? [];
  if (version === undefined)
    throw malformed(`mediaType is ${text(mediaType)}, expected that of a sigstore bundle`);
  if (dsseEnvelope !== undefined) requireSubject(dsseEnvelope, subject);
  else {
    const { digest } = membersOf(membersOf(messageSignature).messageDigest);
    if (typeof digest !== "string")
      throw malformed("it has neither a dsseEnvelope nor a messageSignature with a digest");
    const found = Buffer.from(digest, "base64").toString("hex");
    if (found !== subject.sha256)
      throw malformed(`messageSignature is of the digest ${text(found)}, expected ${subject.sha256}`);
  }
  return { version, ...(dsseEnvelope === undefined && { kind: "signature" }) };
}

/** Each line is an envelope, or a sigstore bundle around one, as `gh attestation download` writes it. */
function inToto(bytes: Uint8Array, subject: Subject): Stated {
  let statements = 0;
  for (const [index, line] of utf8(bytes, "it").split("\n").entries()) {
    if (line.trim() === "") continue;
    const envelope = jsonIn(Buffer.from(line), index);
    requireSubject(membersOf(envelope).dsseEnvelope ?? envelope, subject, `line ${index + 1}`);
    statements++;
  }
  if (statements === 0) throw malformed("it has no statement");
  return {};
}

function requireSubject(envelope: unknown, { file, sha256 }: Subject, place = "it"): void {
  const { payload } = membersOf(envelope);
  if (typeof payload !== "string") throw malformed(`${place} has no DSSE envelope with a payload`);
  const { subject } = membersOf(statementIn(Buffer.from(payload, "base64"), place));
  const digests = (Array.isArray(subject) ? subject : []).map(
    (each) => membersOf(membersOf(each).digest).sha256,
  );
  if (!digests.includes(sha256))
    throw malformed(`${place} has a statement without a subject with the SHA-256 of ${file}, ${sha256}`);
}

/** The message has no position, because readers see only the encoded payload. */
function statementIn(payload: Uint8Array, place: string): unknown {
  try {
    return jsonIn(payload);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw malformed(`${place} has an envelope whose payload is not a JSON statement`);
  }
}

/** Generators name a file by its digest or by its path, in members that differ from one to the next. */
function requireName(list: unknown, { file, sha256 }: Subject): void {
  const isNamed = (value: unknown): boolean => {
    if (typeof value === "string")
      return value.split("/").at(-1) === file || value.toLowerCase().replace(/^sha256:/, "") === sha256;
    return typeof value === "object" && value !== null && Object.values(value).some(isNamed);
  };
  if (!isNamed(list)) throw malformed(`it names neither ${file} nor its SHA-256, ${sha256}`);
}

/** @param before lines of the document that precede these bytes */
function jsonIn(bytes: Uint8Array, before = 0): unknown {
  const content = utf8(bytes, "it");
  try {
    return parseJson(content).value;
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    const lines = content.slice(0, error.offset).split("\n");
    throw malformed(
      `${error.message} (line ${before + lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1})`,
    );
  }
}

const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};

const text = (value: unknown): string =>
  value === undefined ? "absent" : JSON.stringify(value).slice(0, 80);

const mediaTypes: Readonly<Record<string, string>> = {
  cyclonedx: "application/vnd.cyclonedx+json",
  spdx: "application/spdx+json",
  spdx3: "application/spdx3+json",
  sigstore: "application/vnd.dev.sigstore.bundle",
  "in-toto": "application/jsonl",
  minisign: "text/plain; charset=utf-8",
  openpgp: "application/pgp-signature",
};

/** Media type of a document; undefined: its format has none. */
export function documentMediaType({
  format,
  version,
}: Pick<ArtifactDocument, "format" | "version">): string | undefined {
  const type = Object.hasOwn(mediaTypes, format) ? mediaTypes[format] : undefined;
  if (format === "cyclonedx" && version !== undefined) return `${type}; version=${version}`;
  if (format === "sigstore")
    return version === "0.1" || version === "0.2"
      ? `${type}+json;version=${version}`
      : `${type}.v${version ?? "0.3"}+json`;
  return type;
}
