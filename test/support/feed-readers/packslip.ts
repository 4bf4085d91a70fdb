import { z } from "zod";
import { semverOf } from "../../../shared/version.ts";
import { type BuiltFeeds, type FeedReport, newReport, noteListed, textOf } from "./built-feeds.ts";

const statementSchema = z.object({
  subject: z.array(z.object({ name: z.string(), digest: z.object({ sha256: z.string() }) })),
  predicate: z.object({
    version: z.string(),
    artifacts: z.array(z.object({ name: z.string(), url: z.string(), size: z.number() })),
  }),
});

const listSchema = z.object({
  predicate: z.object({
    releases: z.array(z.object({ version: z.string(), status: z.string().optional() })),
  }),
});

/** Compares the statements of releases that are not withdrawn with the records, and their list with them. */
export async function packslipReport(site: BuiltFeeds): Promise<FeedReport> {
  const report = newReport();
  const text = await textOf(site, ".well-known/packslip.unsigned.json");
  if (text === undefined) return report;
  const listed = new Map(
    listSchema.parse(JSON.parse(text)).predicate.releases.map(({ version, status }) => [version, status]),
  );
  for (const path of Object.keys(site.listed)) {
    const [, version] = /^releases\/([^/]+)\/packslip\.unsigned\.json$/.exec(path) ?? [];
    if (version === undefined) continue;
    const { subject, predicate } = statementSchema.parse(JSON.parse((await textOf(site, path)) ?? ""));
    if (predicate.version !== semverOf(version) || !listed.has(predicate.version))
      report.findings.push({ path, what: `is of ${predicate.version}, which the list does not have` });
    if (listed.get(predicate.version) === "yanked") continue;
    for (const { name, url, size } of predicate.artifacts) {
      const sha256 = subject.find((each) => each.name === name)?.digest.sha256 ?? "";
      noteListed(report, path, name, { url, sha256, size }, site);
    }
  }
  return report;
}
