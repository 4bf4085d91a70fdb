import { harmless } from "./cells.ts";
import { type Host, printable } from "./host.ts";

/** A request, or another event of a server. */
interface Entry {
  event: string;
  message?: string;
}

interface Request extends Entry {
  method: string;
  path: string;
  status: number;
  ms: number;
}

/** At a terminal, a short line; elsewhere one JSON object per line, with --json on standard output. */
export function logEntry(entry: Entry, host: Host): void {
  if (host.quiet && isRequest(entry)) return;
  if (!host.json && host.messages.columns !== undefined) {
    host.messages.write(`${harmless(shortly(entry))}\n`);
    return;
  }
  const line = printable(JSON.stringify({ time: new Date().toISOString(), ...entry }));
  (host.json ? host.data : host.messages).write(`${line}\n`);
}

const isRequest = (entry: Entry): entry is Request => entry.event === "request";

function shortly(entry: Entry): string {
  if (isRequest(entry)) return `${entry.method} ${entry.path} ${entry.status} ${Math.round(entry.ms)} ms`;
  const { event, ...rest } = entry;
  return `${event}: ${Object.values(rest).join(" ")}`;
}
