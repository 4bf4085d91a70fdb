import type { Entry } from "../../pipeline/index.ts";
import type { OutputDocument } from "../output/outputs.ts";
import { table } from "../terminal/cells.ts";
import { type Host, say } from "../terminal/host.ts";

export type RecordRow = OutputDocument<"cut">["added"][number];

export const recordTable = (rows: readonly RecordRow[]): string =>
  table(rows.map(({ id, version, package_type, file }) => [`  ${id}`, version, package_type, file]));

/** Written to standard error, like the question that follows. */
export function listRecords(entries: readonly Entry[], host: Host): void {
  say(host, recordTable(entries.map((entry) => entry.add)));
}
