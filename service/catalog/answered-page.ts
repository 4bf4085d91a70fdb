import type { ListQuery } from "../../pipeline/selection/query.ts";
import { select } from "../../pipeline/selection/select.ts";
import { escapeHtml } from "../../pipeline/site/escape.ts";
import { browsableRecord } from "../../pipeline/site/pages/browsable-json.ts";
import { bytesOf, type PackageList } from "./site.ts";

/** Records per page; JSON answers are never paginated. */
const maxRecords = 500;

/** The prebuilt list page with the request and the answer replaced. @param search with its question mark */
export function answeredPage(
  shell: string,
  base: string,
  search: string,
  list: PackageList,
  query: ListQuery,
): string {
  const positions = select(list.index, query);
  const shown = positions.slice(0, maxRecords);
  const records: { id: number; version: string }[] = JSON.parse(
    new TextDecoder().decode(bytesOf(list, shown)),
  );
  const answer = records
    .map((record) => browsableRecord(record, `../../../releases/${record.version}/#p${record.id}`))
    .join(",\n");
  const parts = {
    intro: escapeHtml(introOf(positions.length)),
    request: `<b>GET</b> ${escapeHtml(`${base}/api/v1/package/${search}`)}`,
    json: `<a href="${escapeHtml(asJson(search))}">json</a>`,
    answer: answer === "" ? "" : `\n\n${answer}\n\n`,
    months: "",
  };
  return exchangeParts(shell, parts);
}

function asJson(search: string): string {
  const parameters = new URLSearchParams(search);
  parameters.set("format", "json");
  return `?${parameters}`;
}

function introOf(count: number): string {
  if (count > maxRecords) return `The first ${maxRecords} of ${count} records; the JSON has all of them.`;
  return count === 1 ? "1 record." : `${count} records.`;
}

/** @throws Error if a pair `<!--name-->`, `<!--/name-->` is missing: another version of relcat built the page */
export function exchangeParts(html: string, parts: Readonly<Record<string, string>>): string {
  let result = html;
  for (const [name, content] of Object.entries(parts)) {
    const [open, close] = [`<!--${name}-->`, `<!--/${name}-->`];
    const from = result.indexOf(open);
    const to = result.indexOf(close);
    if (from < 0 || to < from) throw new Error(`the page has no ${open} … ${close}`);
    result = result.slice(0, from + open.length) + content + result.slice(to);
  }
  return result;
}
