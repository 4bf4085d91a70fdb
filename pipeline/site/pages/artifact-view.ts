import {
  type ArtifactDocument,
  architectureOf,
  documentAddress,
  packageVersionOf,
} from "../../../shared/package-metadata.ts";
import { isObject } from "../../documents/is-object.ts";
import type { WireRecord } from "../../documents/package-record.ts";
import type { PublishedPackage, PublishedRelease, SiteConfig } from "../../documents/published.ts";
import type { RetractedRecord } from "../../documents/site.ts";
import { installView } from "./install-view.ts";
import type { ArtifactView, RowView, WithdrawnView } from "./models/file-models.ts";

type Statement = ArtifactView["provenance"][number];
type Fields = Readonly<Record<string, unknown>>;

function provenanceOf({ data }: WireRecord, config: SiteConfig): Statement[] {
  const attestation = objectIn(data.attestation);
  const signature = objectIn(attestation.signature);
  const key = textIn(attestation.key_id);
  const fingerprint = textIn(signature.fingerprint);
  const sources = objectIn(data[config.wire.vendor]);
  const store = objectIn(data.store);
  return [
    ...statement("Signed by", textIn(signature.signer)),
    ...statement("Signing key", key, true),
    ...statement("Signature", textIn(signature.display)),
    ...statement("Fingerprint", fingerprint === key ? undefined : fingerprint, true),
    ...signaturesInside(attestation.file_signatures),
    ...selfCheck(objectIn(attestation[config.wire.cryptolib_post])),
    ...statement("Source revision", textIn(sources.rev), true),
    ...statement("Build recipe", textIn(objectIn(sources.image).drv), true),
    ...statement("Build output", textIn(store.path), true),
    ...statement("Output size", typeof store.size === "number" ? bytesText(store.size) : undefined),
  ];
}

/** The signed files in the artifact with the digests of their signatures, below their signer if one is stated. */
function signaturesInside(files: unknown): Statement[] {
  if (!Array.isArray(files)) return [];
  const bySigner = Map.groupBy(files.map(objectIn), ({ signature }) => textIn(objectIn(signature).signer));
  // Files without a signer come first, so that no other signer is above them.
  const unnamed = bySigner.get(undefined) ?? [];
  bySigner.delete(undefined);
  return [
    ...unnamed.flatMap(signatureInside),
    ...[...bySigner].flatMap(([signer, signed]) => [
      ...statement("Signer inside", signer),
      ...signed.flatMap(signatureInside),
    ]),
  ];
}

function signatureInside({ name, signature }: Fields): Statement[] {
  const { fingerprint, fingerprint_per_arch } = objectIn(signature);
  const digests = [fingerprint, ...Object.entries(objectIn(fingerprint_per_arch)).map(perArchitecture)];
  const parts = [name, ...digests].flatMap((each) => textIn(each) ?? []);
  return parts.length === 0 ? [] : statement("Signed inside", parts.join(" · "));
}

function selfCheck({ expected_hash, expected_hash_per_arch }: Fields): Statement[] {
  const hashes = Object.entries(objectIn(expected_hash_per_arch)).map(perArchitecture);
  return [expected_hash, ...hashes].flatMap((hash) => statement("Self-check hash", textIn(hash), true));
}

const perArchitecture = ([arch, hash]: [string, unknown]): string | undefined => {
  const text = textIn(hash);
  return text && `${arch} ${text}`;
};

/** Imported records may contain data of any shape; values that do not fit are omitted. */
const objectIn = (value: unknown): Fields => (isObject(value) ? value : {});

const textIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

const statement = (words: string, value: string | undefined, isHash = false): Statement[] =>
  value === undefined ? [] : [{ words, value, isHash }];

const ownSystem: ReadonlyMap<string, string> = new Map([
  ["linux", "Linux"],
  ["macos", "macOS"],
  ["windows", "PowerShell"],
]);

/**
 * Commands that verify a downloaded file in the current folder, whose name may have spaces, quotes and a leading dash.
 * The quoted name is separate, because pages isolate its direction. A client has only that of its own system.
 */
function verifyCommands(
  file: string,
  { checksum, package_type, operating_system }: WireRecord,
  { packageTypes }: SiteConfig,
): ArtifactView["commands"] {
  if (checksum === "unknown") return [];
  const isClient = packageTypes.get(package_type)?.kind === "client";
  const own = isClient ? ownSystem.get(operating_system.toLowerCase()) : undefined;
  const posix = { start: `echo '${checksum}  `, file: posixPath(file) };
  return [
    { system: "Linux", ...posix, end: "' | sha256sum -c" },
    { system: "macOS", ...posix, end: "' | shasum -a 256 -c" },
    {
      system: "PowerShell",
      start: "if ((Get-FileHash -Algorithm SHA256 -LiteralPath '",
      file: powerShellPath(file),
      end: `').Hash -eq '${checksum}') { 'OK' } else { 'DO NOT RUN' }`,
    },
  ].filter(({ system }) => own === undefined || system === own);
}

/** How the own tool of a package's format shows the signature inside the file and its key. */
const signatureTools = [
  { format: /\.rpm$/i, system: "Linux", start: "rpm -Kv '", end: "'" },
  { format: /\.deb$/i, system: "Linux", start: "debsig-verify '", end: "'" },
  { format: /\.pkg$/i, system: "macOS", start: "pkgutil --check-signature '", end: "'" },
  {
    format: /\.(?:msi|exe)$/i,
    system: "PowerShell",
    start: "Get-AuthenticodeSignature -LiteralPath '",
    end: "' | Select-Object Status, {$_.SignerCertificate.Thumbprint}",
  },
];

/** Only for records that state the key, because a signature by any other key proves nothing. */
function signatureView(file: string, { data }: WireRecord): ArtifactView["signature"] {
  const tool = signatureTools.find(({ format }) => format.test(file));
  const key = textIn(objectIn(data.attestation).key_id);
  if (!tool || !key) return null;
  const { format: _, ...command } = tool;
  const path = tool.system === "PowerShell" ? powerShellPath(file) : posixPath(file);
  return { command: { ...command, file: path }, key };
}

/** A name `-` would mean standard input, and other leading dashes an option. */
const withoutDash = (file: string): string => (file.startsWith("-") ? `./${file}` : file);

const posixPath = (file: string): string => withoutDash(file).replaceAll("'", "'\\''");

/** PowerShell treats typographic quotes like straight ones. */
const powerShellPath = (file: string): string => withoutDash(file).replace(/['\u2018-\u201B]/g, "$&$&");

/** The members that a list and the page of a release share. */
function headView({ record, url, size, metadata }: PublishedPackage, config: SiteConfig) {
  const arch = architectureOf(metadata) ?? "";
  return {
    id: record.id,
    name: record.name,
    version: record.version,
    type: record.package_type,
    platform: platformName(record.platform, config),
    facts: factsOf(record, config),
    arch: arch === "all" ? "all architectures" : arch,
    size: size === null ? "" : sizeText(size),
    url,
  };
}

/** @param releasePath the path from the page to the release's page */
export const rowView = (entry: PublishedPackage, releasePath: string, config: SiteConfig): RowView => ({
  ...headView(entry, config),
  operatingSystem: systemName(entry.record),
  page: `${releasePath}#p${entry.record.id}`,
});

export function artifactView(
  entry: PublishedPackage,
  release: PublishedRelease,
  config: SiteConfig,
): ArtifactView {
  const { record, file, size, documents = [] } = entry;
  return {
    ...headView(entry, config),
    file: file === record.name ? "" : file,
    description: record.description,
    packageVersion: otherVersion(entry),
    system: [systemName(record), boundsText(record)].filter(Boolean).join(", "),
    variant: variantText(record),
    bytes: size === null || size < 1024 ? "" : bytesText(size),
    history: historyView(record.id, release),
    checksum: record.checksum,
    brief: false,
    hasChecksum: record.checksum !== "unknown",
    provenance: provenanceOf(record, config),
    documents: documents.map((document) => documentView(entry, document)),
    commands: verifyCommands(file, record, config),
    signature: signatureView(file, record),
    install: installView(entry, release, config),
  };
}

/** The version that a package states; empty if it is that of the release, apart from zeros, epoch and revision. */
function otherVersion({ record, metadata }: PublishedPackage): string {
  const stated = packageVersionOf(metadata) ?? record.version;
  const plain = (version: string) => version.replace(/^\d+:|\b0+(?=\d)|(?:\.0)?(?:-\d[\w.~+]*)?$/g, "");
  return plain(stated) === plain(record.version) ? "" : stated;
}

/** Target of a file, in short: platform, versions of the system, variant. The group's name has the system. */
function factsOf(record: WireRecord, config: SiteConfig): string[] {
  const variant = record.headless ? "Core" : record.gui_only ? "Graphical" : "";
  const facts = new Set([platformName(record.platform, config), boundsText(record), variant]);
  return [...facts].filter(Boolean);
}

export function withdrawnView(record: RetractedRecord, release: PublishedRelease): WithdrawnView {
  const { id, name, package_type, reason, checksum, at, replaced_by } = record;
  const by = replaced_by === null ? undefined : release.replacements.get(replaced_by);
  const folder = by?.version === release.version ? "" : `../${by?.version}/`;
  const replacement = by ? { ...by, href: `${folder}#p${replaced_by}` } : null;
  const history = historyView(id, release).map((event) =>
    // The page says the present reason first.
    event.reason === reason ? { ...event, reason: "" } : event,
  );
  return { id, name, type: package_type, reason, checksum, at: momentView(at), replacement, history };
}

const eventNames = { added: "Added", revised: "Revised", withdrawn: "Withdrawn", reinstated: "Reinstated" };

const historyView = (id: number, { histories }: PublishedRelease): ArtifactView["history"] =>
  (histories.get(id) ?? []).map(({ kind, at, reason }) => {
    return { words: eventNames[kind], at: momentView(at), reason };
  });

const documentNames = {
  sbom: "List of components (SBOM)",
  attestation: "Attestation",
  signature: "Signature",
  provenance: "Provenance",
};

function documentView(
  { url, file }: PublishedPackage,
  document: ArtifactDocument,
): ArtifactView["documents"][number] {
  const { kind, format, sha256, size } = document;
  const name = `${format} ${kind}`;
  const tool = Object.hasOwn(documentTools, name) ? documentTools[name] : undefined;
  return {
    words: documentNames[kind],
    href: documentAddress(url, file, document),
    file: document.file,
    format,
    size: sizeText(size),
    sha256,
    verify: tool
      ? { start: `${tool.start} '${posixPath(document.file)}'${tool.end} '`, file: posixPath(file), end: "'" }
      : null,
  };
}

const signedByWhom = "--certificate-identity IDENTITY --certificate-oidc-issuer ISSUER";

/** By format and kind: words of a command before and after the document's name; the words in capitals are up to the reader. */
const documentTools: Readonly<Record<string, { start: string; end: string }>> = {
  "sigstore signature": { start: `cosign verify-blob ${signedByWhom} --bundle`, end: "" },
  "sigstore attestation": { start: `cosign verify-blob-attestation ${signedByWhom} --bundle`, end: "" },
  "in-toto attestation": { start: "gh attestation verify --owner OWNER --bundle", end: "" },
  "minisign signature": { start: "minisign -V -P PUBLIC_KEY -x", end: " -m" },
  "openpgp signature": { start: "gpg --verify", end: "" },
};

export const artifactsUnit = (count: number): string => (count === 1 ? "artifact" : "artifacts");

export const platformName = (platform: number, config: SiteConfig): string =>
  config.platforms.get(platform) ?? `Platform ${platform}`;

const systemNames: ReadonlyMap<string, string> = new Map([
  ["linux", "Linux"],
  ["macos", "macOS"],
  ["windows", "Windows"],
  ["kubernetes", "Kubernetes"],
]);

const systemName = ({ operating_system }: WireRecord): string =>
  systemNames.get(operating_system) ?? operating_system;

function variantText({ headless, gui_only }: WireRecord): string {
  if (headless) return "Core, without graphical interface";
  return gui_only ? "Graphical component" : "";
}

function boundsText({ min_os_version: min, max_os_version: max }: WireRecord): string {
  if (min !== null && max !== null) return `${min} to ${max}`;
  if (min !== null) return `${min} and later`;
  return max === null ? "" : `${max} and earlier`;
}

const momentView = (timestamp: string) => ({
  datetime: timestamp,
  date: timestamp.slice(0, 10),
  text: `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)} UTC`,
});

const units = ["", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Readable size in units of 1,024. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // Without this, 1,023.95 KiB would be shown as 1024.0 KiB.
  for (; value >= (unit === 0 ? 1024 : 1023.95) && unit < units.length - 1; unit++) value /= 1024;
  return unit === 0 ? inBytes(value, String(value)) : `${value.toFixed(1)} ${units[unit]}`;
}

const bytesText = (count: number): string => inBytes(count, String(count).replace(/\B(?=(\d{3})+$)/g, ","));

const inBytes = (count: number, shown: string): string => `${shown} ${count === 1 ? "byte" : "bytes"}`;
