import type { OutputLine } from "../output/outputs.ts";
import { harmless } from "./cells.ts";
import { type Host, lineText } from "./host.ts";

type Line = OutputLine<"request" | "site-replaced" | "server-error">;
type WithoutTime<Each> = Each extends Line ? Omit<Each, "time"> : never;

/** A request, or another event of a server. */
export type Entry = WithoutTime<Line>;

/** At a terminal, a short line; elsewhere one JSON object per line, with --json on standard output. */
export function logEntry(entry: Entry, host: Host): void {
  if (host.quiet && isRequest(entry)) return;
  if (!host.json && host.messages.columns !== undefined) {
    host.messages.write(`${harmless(shortly(entry))}\n`);
    return;
  }
  const line = lineText<"request" | "site-replaced" | "server-error">({
    time: new Date().toISOString(),
    ...entry,
  });
  (host.json ? host.data : host.messages).write(`${line}\n`);
}

const isRequest = (entry: Entry): entry is Extract<Entry, { event: "request" }> => entry.event === "request";

function shortly(entry: Entry): string {
  if (isRequest(entry)) return `${entry.method} ${entry.path} ${entry.status} ${Math.round(entry.ms)} ms`;
  const { event, ...rest } = entry;
  return `${event}: ${Object.values(rest).join(" ")}`;
}
