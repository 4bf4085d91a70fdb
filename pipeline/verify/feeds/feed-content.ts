import type { Finding } from "../finding.ts";
import { aptReport } from "./apt-findings.ts";
import type { FeedSite } from "./feed-site.ts";
import { helmReport } from "./helm-findings.ts";
import { incusReport } from "./incus-findings.ts";
import { unlistedFindings } from "./left-out.ts";
import { yumReport } from "./yum-findings.ts";

/** Compares what every feed lists with the live records, in both directions. */
export async function feedContentFindings(site: FeedSite): Promise<Finding[]> {
  const reports = {
    apt: await aptReport(site),
    yum: await yumReport(site),
    helm: await helmReport(site),
    incus: await incusReport(site),
  };
  return [
    ...Object.values(reports).flatMap(({ findings }) => findings),
    ...(await unlistedFindings(reports, site)),
  ];
}
