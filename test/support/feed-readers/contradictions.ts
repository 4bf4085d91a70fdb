import type { Tree } from "../tree.ts";
import { aptReport } from "./apt.ts";
import { feedsOf } from "./built-feeds.ts";
import { helmReport } from "./helm.ts";
import { incusReport } from "./incus.ts";
import { unlistedFindings } from "./left-out.ts";
import { packslipReport } from "./packslip.ts";
import { yumReport } from "./yum.ts";

/**
 * Differences between what the feeds of a build list and its live records, in both directions: `path what`. The readers
 * share no code with the emitters, so that a fault of these cannot hide itself.
 */
export async function contradictionsIn(tree: Tree): Promise<string[]> {
  const site = feedsOf(tree);
  const reports = {
    apt: await aptReport(site),
    yum: await yumReport(site),
    helm: await helmReport(site),
    incus: await incusReport(site),
    packslip: await packslipReport(site),
  };
  const findings = [
    ...Object.values(reports).flatMap((report) => report.findings),
    ...(await unlistedFindings(reports, site)),
  ];
  return findings.map(({ path, what }) => `${path} ${what}`);
}
