import { lineOf } from "../../shared/version.ts";
import type { OutputFile, ReleaseSummary, SiteConfig } from "../documents/published.ts";
import { type LinesDocument, linesPath } from "../documents/site.ts";
import { supportOf } from "../selection/support.ts";
import { jsonFile } from "./output.ts";

/** One sentence for pages, without the final stop; empty if nothing is stated. */
export function supportText(version: string, { lines }: Pick<SiteConfig, "lines">): string {
  const support = supportOf(lineOf(version), lines);
  if (!support) return "";
  const { securityUntil, until } = support;
  const all = until === "tba" ? "end of support not announced" : `supported until ${until}`;
  if (securityUntil === until || securityUntil === "tba") return `${all[0]?.toUpperCase()}${all.slice(1)}`;
  return `Security updates until ${securityUntil}, ${all}`;
}

/** `api/v1/lines.json`, if the configuration has support dates. @param releases ascending by version */
export function supportFiles(
  releases: readonly ReleaseSummary[],
  { lines, product }: SiteConfig,
): OutputFile[] {
  if (Object.keys(lines).length === 0) return [];
  const cut = releases.filter(({ provisional, releasedAt }) => !provisional && releasedAt !== undefined);
  const rows = [...Map.groupBy(cut, ({ version }) => lineOf(version))].flatMap(([line, members]) => {
    const support = supportOf(line, lines);
    const newest = members.at(-1);
    if (!support || !newest) return [];
    return [
      {
        line,
        newest: newest.version,
        security_until: support.securityUntil,
        until: support.until,
        openeox: {
          $schema: "https://docs.oasis-open.org/openeox/eox-core/v1.0/schema/core.json" as const,
          end_of_life: endOf(support.until),
          end_of_security_support: endOf(support.securityUntil),
          last_updated: newest.releasedAt ?? "",
        },
      },
    ];
  });
  return [jsonFile(linesPath, { schema_version: 1, product, lines: rows } satisfies LinesDocument)];
}

/** OpenEoX states the last moment of a day. */
const endOf = (date: string): string => (date === "tba" ? date : `${date}T23:59:59Z`);
