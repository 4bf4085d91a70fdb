import { z } from "zod";
import { flag, text } from "./model-fields.ts";

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
  /** Program and index. */
  name: text,
  /** Systems that use it. */
  use: text,
  /** Setup, and the command for the first package. */
  lines: text,
  /** The commands for further packages. */
  others: z.array(text),
});

export type RepositoryView = z.infer<typeof repository>;

/** How a file is installed or imported. */
export const install = z.strictObject({
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
