import { statSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { debianVersion } from "../build/debian.ts";
import { aimsTable } from "../build/outcomes.ts";
import type { Results } from "../build/rounds.ts";
import { groupTables } from "../build/tables.ts";
import { hardware, quietRounds, wasBusy } from "../http/machine.ts";
import { aims } from "./aims.ts";
import { debianPackages, type Sizes } from "./groups.ts";
import type { Image } from "./image.ts";
import type { Lot } from "./packages.ts";

export interface Run {
  results: Results;
  sizes: Sizes;
  rounds: number;
  lots: readonly Lot[];
  image: Image;
  /** What inspecting the image read. */
  bytesRead: number;
  /** Load average when it began. */
  begun: number;
}

/** RESULTS.md of a run. */
export function report({ results, sizes, rounds, lots, image, bytesRead, begun }: Run): string {
  return `# Inspection

Written by \`npm run bench:inspect\` on ${new Date().toISOString().slice(0, 10)}: ${hardware()}. Load average ${begun.toFixed(1)} at the beginning, ${(loadavg()[0] ?? 0).toFixed(1)} at the end; ${quietRounds()}.
Medians of ${rounds} interleaved rounds after one that warms up; ratios are medians of the rounds' ratios of wall time. Short runs are repeated in a row, for about two seconds. The page cache is warm. ${versions()}.
${wasBusy() ? provisional : ""}
## Aims

${aimsTable(aims, results)}

${onePass(image, bytesRead)}

${groupTables(results)}

## What is inspected

relcat is the installed package, one process over all packages of a table. The tools of Debian run as their users run them: rpmkeys takes many packages, debsig-verify and osslsigncode one each. All of them find every package good, in every run.

${lots.map(described).join("\n")}
- hashing: files of ${sizes.mebibytes} MiB. Debian's sha256sum is no yardstick: it does not use the CPU's SHA instructions.
- ${image.size / 2 ** 20} MiB of image: a raw disk. relcat hashes it, and inspects it where its package type has a policy.
`;
}

const provisional = `
**Provisional**: in most rounds others ran beside. Wall time says little then, least of all of what runs on both cores at once; CPU time says more.
`;

/** Hashing and inspecting share what is read: more than all of it once is what they cost each other. */
function onePass({ size }: Image, bytesRead: number): string {
  const ratio = bytesRead / size;
  const most = 1.01;
  return `**One pass**: inspecting and hashing an image of ${size / 2 ** 20} MiB, relcat reads ${ratio.toFixed(4)} × its bytes, its own program included; aim ≤ ${most} ×, ${ratio <= most ? "met" : "**missed**"}.`;
}

function described({ title, folder, files }: Lot): string {
  const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  const count = files.length === 1 ? "1 package" : `${files.length} packages`;
  return `- ${title}: ${count}, ${(bytes / 1e6).toFixed(1)} MB`;
}

const versions = (): string =>
  debianPackages.map((name) => `${name} ${debianVersion(name) ?? "not installed"}`).join(", ");
