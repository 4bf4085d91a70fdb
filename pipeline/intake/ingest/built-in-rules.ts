import { posix } from "node:path";
import type { Problem } from "../../../shared/errors.ts";
import type { IngestRule, Settings } from "../../documents/config.ts";
import { display } from "../../project/display.ts";
import { fileSource } from "../../system/file-source.ts";
import { type At, problem } from "./evidence.ts";

interface BuiltInRule {
  /** Glob of file names, case-sensitive. */
  match: string;
  /** Undefined: the name does not decide, so that a project needs a rule of its own. */
  packageType: string | undefined;
  /** True if the bytes must be an archive of Incus; without the bytes, its name must say so. */
  isIncus?: boolean;
}

const row = (match: string, packageType: string | undefined): BuiltInRule => ({ match, packageType });
const disk = (match: string, packageType: string | undefined) =>
  row(`${match}{,.gz,.xz,.zst,.bz2}`, packageType);

/** The first match wins, after `ingest:` rules and what the build says. docs/releases.md has the same table. */
export const builtInRules: readonly BuiltInRule[] = [
  row("*.rpm", "rpm"),
  row("*.deb", "deb"),
  row("*.msi", "msi"),
  row("*.pkg", "pkg"),
  // Names written by `helm package`; other .tgz files may be anything.
  row("?*-+([0-9]).+([0-9]).+([0-9])*.tgz", "helm"),
  { match: "*.tar.xz", packageType: "incus", isIncus: true },
  row("*{[Dd]arwin,[Mm]ac[Oo][Ss],[Ww]indows,[Ww]in32,[Ww]in64,[Bb][Ss][Dd]}*.tar.xz", undefined),
  row("*.tar.xz", "xz"),
  disk("*efi*.qcow2", "qcow-efi"),
  disk("*.qcow2", "qcow"),
  disk("*esxi*.{ova,vmdk}", "esxi"),
  disk("*.{ova,vmdk}", "vmware"),
  disk("*{amazon,aws}*.{vhd,raw}", "amazon"),
  disk("*xen*.vhd", "xen"),
  disk("*hyper{,-}v*.vhd", "hyperv"),
  disk("*azure*.vhd{,x}", "azure"),
  disk("*.vhdx", "hyperv"),
  // Azure and Hyper-V use the same format.
  disk("*.vhd", undefined),
  disk("*.xva", "xen"),
  row("*.vma{,.gz,.lzo,.zst}", "proxmox"),
  row("*efi*.raw.tar.gz", "gce-efi"),
  row("*.raw.tar.gz", "gce"),
];

const incusName = /incus|lx[cd]/i;
/** No glob matches a leading dot; check refuses such a name with a message of its own. */
const rulesFor = (file: string) =>
  builtInRules.filter(({ match }) => posix.matchesGlob(file.replace(/^\.+/, ""), match));

export const usualType = (file: string): string | undefined =>
  rulesFor(file).find(({ isIncus }) => !isIncus || incusName.test(file))?.packageType;

/** @param path undefined: the bytes are not here @throws RelcatError file-access, decoder-missing */
export async function typeOfFile(file: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return usualType(file);
  for (const { packageType, isIncus } of rulesFor(file))
    if (!isIncus || (await isIncusArchive(path))) return packageType;
  return undefined;
}

async function isIncusArchive(path: string): Promise<boolean> {
  const { hasIncusMetadata } = await import("../../../inspect/images/incus.ts");
  const { limits } = await import("../../../inspect/inspect.ts");
  const source = fileSource(path);
  try {
    return await hasIncusMetadata(source, limits.image);
  } finally {
    source.close();
  }
}

/** The first `ingest:` rule in catalog.yaml whose glob matches the file name, case-sensitively. */
export const ruleFor = (file: string, { ingest }: Pick<Settings, "ingest">): IngestRule | undefined =>
  ingest.find(({ match }) => posix.matchesGlob(file, match));

export const isIgnored = (file: string, { ignore }: Pick<Settings, "ignore">): boolean =>
  ignore.some((glob) => posix.matchesGlob(file, glob));

export function fieldsOf({ match: _, ...fields }: IngestRule): Omit<IngestRule, "match"> {
  return fields;
}

/** Problem of a file without a rule; `unmatchedHint` gives the hint for all of them. */
export function unmatched(file: string, at: At): Problem {
  const more = isVhd(file) ? ": azure and hyperv have the same format" : "";
  return problem("artifact-unmatched", at, `nothing says what ${display(file)} is${more}`, "");
}

/** True for a disk whose name may be that of an image for Azure or for Hyper-V. */
export const isVhd = (file: string): boolean => /\.vhd(?:\.|$)/.test(file);
