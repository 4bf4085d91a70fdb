import { z } from "zod";
import { checksum, id, version } from "../../../../shared/fields.ts";
import { flag, href, moment, text } from "./model-fields.ts";

/** Programs that import an image; one of them is true. */
const importers = {
  proxmoxBackup: flag,
  proxmoxDisk: flag,
  kvm: flag,
  kvmUefi: flag,
  ova: flag,
  vmdk: flag,
  xen: flag,
  hyperv: flag,
  azure: flag,
  gce: flag,
  gceUefi: flag,
  amazon: flag,
  incusArchive: flag,
};

/** A repository with the lines that add it and install its packages, quoted for a shell. */
export const repository = z.strictObject({
  name: text,
  /** Systems that use it. */
  use: text,
  /** Setup, and the command for the first package. */
  lines: text,
  /** The commands for further packages. */
  others: z.array(text),
});

export type RepositoryView = z.infer<typeof repository>;

const install = z.strictObject({
  repositories: z.array(repository.pick({ name: true, lines: true })),
  imports: z.array(
    z.strictObject({
      ...importers,
      platform: text,
      url: text,
      plainUrl: text,
      /** Quoted for a shell, as `disk` is. */
      file: text,
      plainFile: text,
      checksum: text,
      /** Program that unpacks the file; empty if the platform takes it as it is. */
      unpack: text,
      disk: text,
      plainDisk: text,
      /** Format of the disk, in capitals. */
      format: text,
      isVhdx: flag,
      name: text,
    }),
  ),
});

const command = z.strictObject({ system: text, start: text, file: text, end: text });

const statement = z.strictObject({ words: text, value: text, isHash: flag });

/** Events of a record, oldest first. The reason is that of a withdrawal; otherwise it is empty. */
const history = z.array(z.strictObject({ words: text, at: moment, reason: text }));

export const row = z.strictObject({
  id,
  name: text,
  version,
  type: text,
  platform: text,
  operatingSystem: text,
  /** Platform, versions of its system and variant. */
  facts: z.array(text),
  /** Empty if unknown. */
  arch: text,
  /** Readable; empty if unknown. */
  size: text,
  url: href,
  page: href,
});

export const artifact = z.strictObject({
  id,
  name: text,
  version,
  /** Empty if it is the name. */
  file: text,
  description: text,
  type: text,
  platform: text,
  facts: z.array(text),
  arch: text,
  /** The version that the package states; empty if it is that of the release. */
  packageVersion: text,
  /** Operating system and its bounds, as text. */
  system: text,
  /** Variant of a split package; otherwise empty. */
  variant: text,
  size: text,
  /** The exact size; empty if `size` is exact. */
  bytes: text,
  history,
  checksum,
  /** True: the page has only the checksum and a link to the record, because the release has very many files. */
  brief: flag,
  /** False: it is not known. */
  hasChecksum: flag,
  /** Details of signer and sources. */
  provenance: z.array(statement),
  /** Files next to it that describe it. */
  documents: z.array(
    z.strictObject({
      words: text,
      href,
      file: text,
      format: text,
      size: text,
      sha256: checksum,
      /** Command that verifies its signature, which relcat has not done; null: it has none, or no known program. */
      verify: z.strictObject({ start: text, file: text, end: text }).nullable(),
    }),
  ),
  url: href,
  /** None if the page verifies all files together. */
  commands: z.array(command),
  /** Command that shows the signature inside the file, and the expected key; null: the record states none. */
  signature: z.strictObject({ command, key: text }).nullable(),
  /** null: nothing installs or imports it. */
  install: install.nullable(),
});

export const withdrawn = z.strictObject({
  id,
  name: text,
  type: text,
  reason: text,
  checksum,
  at: moment,
  /** null: no replacement. */
  replacement: z.strictObject({ version, name: text, href }).nullable(),
  history,
});

export type ArtifactView = z.infer<typeof artifact>;
export type RowView = z.infer<typeof row>;
export type WithdrawnView = z.infer<typeof withdrawn>;
