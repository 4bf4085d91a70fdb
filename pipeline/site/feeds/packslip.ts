import { basename } from "node:path/posix";
import { type Architecture, architectureOf } from "../../../shared/package-metadata.ts";
import { semverOf } from "../../../shared/version.ts";
import type { PackslipArtifact, PackslipSettings } from "../../documents/feeds/settings.ts";
import { packslipPath } from "../../documents/feeds/signing.ts";
import type {
  FeedConfig,
  OutputGroup,
  PublishedPackage,
  PublishedRelease,
} from "../../documents/published.ts";
import { digestOf } from "../../journal/digest.ts";
import { memberOf } from "../../selection/channels.ts";
import { jsonFile } from "../output.ts";
import {
  type Feed,
  type FeedPart,
  indistinguishable,
  noChecksum,
  noSize,
  partOf,
  unknownMachine,
} from "./feed.ts";

interface PackslipRow {
  version: string;
  /** Null for a provisional release, whose time would change. */
  publishedAt: string | null;
  isSecurity: boolean;
  /** The files that are not withdrawn; all files if all of them are. */
  files: ListedFile[];
  /** Null unless all files are withdrawn, or the release is halted in the default channel. */
  reason: string | null;
}

interface ListedFile {
  id: number;
  sha256: string;
  /** Two files with the same one make a statement invalid. */
  selector: string;
  name: string;
  artifact: object;
}

/** Statements of packslip, which `sign` completes and signs: https://packslip.dev/release/v1/. */
export const packslipFeed: Feed<PackslipRow> = {
  name: "packslip",
  part: packslipPart,
  indexes(rows) {
    const listed = rows.flatMap(({ files, reason }) => (reason === null ? files : []));
    return [{ name: "", listed, replaced: [] }];
  },
  *groups(rows, config) {
    const { baseUrl } = config;
    const project = packslipProject(config);
    const settled = rows.filter(({ publishedAt }) => publishedAt !== null);
    for (const row of settled) yield statementGroup(row.version, releaseStatement(row, project, baseUrl));
    if (settled.length > 0) yield statementGroup(undefined, listStatement(settled, project, baseUrl));
  },
};

/** The name of the project, which is that of the host with its list. */
export const packslipProject = ({ feeds, baseUrl }: FeedConfig): string =>
  feeds.packslip?.project ?? new URL(baseUrl).hostname;

const statementGroup = (version: string | undefined, statement: object): OutputGroup => ({
  name: `packslip ${version ?? "list"}`,
  key: digestOf(statement),
  files: [jsonFile(packslipPath(version, "unsigned"), statement)],
});

function packslipPart(release: PublishedRelease, { feeds, channels }: FeedConfig): FeedPart<PackslipRow> {
  const { version, provisional, releasedAt, notes, packages, retracted, withdrawn = [] } = release;
  const channel = memberOf(release, channels[0]);
  const types = feeds.packslip?.artifacts ?? {};
  const { rows: live, omitted } = listedOf(packages, types);
  const files = live.length > 0 ? live : listedOf(withdrawn, types).rows;
  // A release that the default channel never offered is not listed yet; one that it halted is listed as withdrawn.
  if (files.length === 0 || (release.channels && !channel)) return { rows: [], omitted };
  const reasons = retracted
    .filter(({ id }) => files.some((file) => file.id === id))
    .map(({ reason }) => reason);
  const row = {
    version,
    publishedAt: provisional || !releasedAt ? null : `${releasedAt.slice(0, 19)}Z`,
    isSecurity: notes.some(({ security }) => security),
    files,
    reason: live.length > 0 ? (channel?.halt?.reason ?? null) : [...new Set(reasons)].join("; "),
  };
  return { rows: [row], omitted };
}

function listedOf(packages: readonly PublishedPackage[], types: PackslipSettings["artifacts"]) {
  const files: ListedFile[] = [];
  return partOf(packages, (entry) => {
    const type = entry.record.package_type;
    const settings = Object.hasOwn(types, type) ? types[type] : undefined;
    const file = settings && fileOf(entry, settings);
    if (!(file instanceof Object)) return file;
    const twin = files.find(({ selector, name }) => selector === file.selector || name === file.name);
    if (twin) return `${indistinguishable} ${twin.name}`;
    files.push(file);
    return file;
  });
}

/** Architectures by the names of Debian; null: runs on every machine. */
const machines: Readonly<Partial<Record<Architecture, string | null>>> = {
  all: null,
  amd64: "x86_64",
  arm64: "aarch64",
  armel: "armv6",
  armhf: "armv7",
  i386: "i686",
  loong64: "loongarch64",
  ppc64el: "powerpc64le",
  riscv64: "riscv64",
  s390x: "s390x",
};

const systems = /^(?:linux|darwin|windows|freebsd|netbsd|openbsd|illumos|android|ios)$/;

/** @returns a reason for a file that packslip cannot list */
function fileOf(entry: PublishedPackage, { bin = [], libc, variant }: PackslipArtifact): ListedFile | string {
  const { record, size, url, metadata } = entry;
  if (size === null) return noSize;
  if (!/^[0-9a-f]{64}$/.test(record.checksum)) return noChecksum;
  const machine = architectureOf(metadata);
  const arch = machine && machines[machine];
  if (machine === undefined) return unknownMachine;
  if (arch === undefined) return `packslip has no name for the architecture ${machine}`;
  const os = record.operating_system.toLowerCase().replace(/^macos$/, "darwin");
  if (!systems.test(os)) return `packslip has no name for the operating system ${os}`;
  const name = basename(entry.file);
  const format = formatOf(name, bin.length > 0);
  const platform = { os, ...(arch !== null && { arch }), ...(libc && { libc }), ...(variant && { variant }) };
  const artifact = { name, ...platform, size, url, format };
  return {
    id: record.id,
    sha256: record.checksum,
    name,
    selector: JSON.stringify({ ...platform, format }),
    artifact: { ...artifact, ...(bin.length > 0 && { bin: binsOf(bin, name, format, record.version) }) },
  };
}

const formats =
  /\.(tar\.(?:xz|gz|zst|bz2)|tgz|tar|zip|7z|gz|xz|zst|bz2|deb|rpm|dmg|pkg|msi|msix|exe|appimage)$/i;

/** An .exe with executables is the program itself, otherwise it is an installer. */
function formatOf(name: string, isProgram: boolean): string {
  const format = formats.exec(name)?.[1]?.toLowerCase() ?? "raw";
  return format === "exe" && isProgram ? "raw" : format;
}

/** A file that is no archive is itself the executable, so its own name is the path. */
function binsOf(bins: readonly string[], name: string, format: string, version: string): unknown[] {
  const isBare = /^(?:raw|gz|xz|zst|bz2)$/.test(format);
  return bins.map((bin) => {
    const path = bin.replaceAll("{version}", version);
    const own = format === "raw" ? name : name.slice(0, -format.length - 1);
    return isBare ? { path: own, name: basename(path).replace(/\.exe$/i, "") } : path;
  });
}

const releaseStatement = (row: PackslipRow, project: string, baseUrl: string) => ({
  _type: "https://in-toto.io/Statement/v1",
  subject: row.files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
  predicateType: "https://packslip.dev/release/v1",
  predicate: {
    project,
    version: semverOf(row.version),
    published_at: row.publishedAt,
    artifacts: row.files.map(({ artifact }) => artifact),
    notes_url: `${baseUrl}/releases/${row.version}/`,
  },
});

/** Withdrawn releases stay, because clients warn of those that they have. */
const listStatement = (rows: readonly PackslipRow[], project: string, baseUrl: string) => ({
  _type: "https://in-toto.io/Statement/v1",
  subject: [],
  predicateType: "https://packslip.dev/releases/v1",
  predicate: {
    project,
    releases: rows.map(({ version, publishedAt, isSecurity, reason }) => ({
      version: semverOf(version),
      tag: version,
      published_at: publishedAt,
      packslip: `${baseUrl}/${packslipPath(version, "sigstore")}`,
      ...(reason !== null && { status: "yanked", status_reason: reason }),
      ...(isSecurity && { security: true }),
    })),
  },
});
