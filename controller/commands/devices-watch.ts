import { setTimeout as wait } from "node:timers/promises";
import { type Host, lineText, print, say } from "../../cli/terminal/host.ts";
import { RelcatError } from "../../shared/errors.ts";
import { type Connection, connect, type Place } from "./api.ts";
import { type AuditEvent, auditLine } from "./controller-audit.ts";

interface WatchOptions extends Place {
  after?: number;
  count?: number;
}

/** Milliseconds between two connection attempts. */
const pause = 2000;

/** `relcat devices watch`: prints one line per event until stopped; after a lost connection it resumes. */
export async function watchDevices(options: WatchOptions, host: Host): Promise<void> {
  const connection = connect(options, host);
  const left = options.count ?? Number.POSITIVE_INFINITY;
  const watch: Watch = { last: options.after, left, isConnected: false };
  while (watch.left > 0) {
    try {
      await follow(connection, watch, host);
    } catch (error) {
      // A first failure is reported, and rejected credentials are not retried.
      const isNetwork = error instanceof RelcatError && error.code !== "network";
      if (!watch.isConnected || isNetwork) throw error;
    }
    if (watch.left === 0) break;
    say(host, "The connection ended; connecting again…");
    await wait(pause);
  }
}

interface Watch {
  /** Id of the last event that was printed. */
  last: number | undefined;
  left: number;
  isConnected: boolean;
}

async function follow(connection: Connection, watch: Watch, host: Host): Promise<void> {
  const query = watch.last === undefined ? "" : `?after=${watch.last}`;
  const response = await connection.open(`/events${query}`);
  if (!watch.isConnected) say(host, `Watching ${connection.url}. Ctrl-C stops it.`);
  watch.isConnected = true;
  try {
    for await (const { id, data } of eventsOf(response)) {
      watch.last = id;
      show(JSON.parse(data), host);
      if (--watch.left === 0) return;
    }
  } catch (error) {
    // The system decides how a connection breaks; the caller reports that it did.
    if (!(error instanceof TypeError)) throw error;
  }
}

function show(row: AuditEvent, host: Host): void {
  print(host, host.json ? lineText<"devices-watch">(row) : auditLine(row));
}

/** Server-sent events with data (HTML standard, 9.2). */
async function* eventsOf({ body }: Response): AsyncGenerator<{ id: number; data: string }> {
  let text = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (text + chunk).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1];
      const data = field("data");
      if (data !== undefined) yield { id: Number(field("id")), data };
    }
  }
}
