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

/** Values of the lines in install.hbs. */
export const install = z.strictObject({
  apt: z.array(
    z.strictObject({
      suite: text,
      address: text,
      file: text,
      key: z.strictObject({ address: text, file: text }).nullable(),
      wanted: text,
    }),
  ),
  yum: z.array(z.strictObject({ repo: text, address: text, file: text, wanted: text })),
  helm: z.array(
    z.strictObject({
      repository: text,
      address: text,
      release: text,
      chart: text,
      version: text,
      /** Address in the OCI registry; empty if it is in none. */
      registry: text,
    }),
  ),
  incus: z.array(
    z.strictObject({
      remote: text,
      address: text,
      image: text,
      name: text,
      isMachine: flag,
      isBios: flag,
    }),
  ),
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
