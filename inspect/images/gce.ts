import { Fault } from "../verdict.ts";
import type { OpenTar } from "./content.ts";
import { type DiskFacts, passingDisk } from "./disk-facts.ts";
import { raw } from "./disks/formats.ts";

/** Google's import requires exactly one file with this name. */
const wanted = "disk.raw";

/** A disk for Google Compute Engine: https://cloud.google.com/compute/docs/import/import-existing-image */
export const gceTar: OpenTar = (findings) => {
  findings.type = "gce";
  let disk: DiskFacts | undefined;
  return {
    entry(entry) {
      if (disk || entry.path !== wanted || entry.type !== "file")
        throw new Fault("refuse", `the archive has ${entry.path}, expected ${wanted} and nothing else`);
      return passingDisk(entry, findings, (facts) => (disk = facts), { ...raw, isIt: () => true });
    },
    end() {
      if (!disk) throw new Fault("refuse", `the archive has no ${wanted} with content`);
      Object.assign(findings.facts, disk);
      return "ok";
    },
  };
};
