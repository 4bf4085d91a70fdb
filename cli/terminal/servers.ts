import { isIP } from "node:net";
import { failure, type RelcatError } from "../../shared/errors.ts";
import type { OutputLine } from "../output/outputs.ts";
import { harmless } from "./cells.ts";
import { type Host, lineText } from "./host.ts";
import { UsageError } from "./usage.ts";

type Line = OutputLine<"request" | "site-replaced" | "server-error">;
type WithoutTime<Each> = Each extends Line ? Omit<Each, "time"> : never;

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

/** @throws UsageError for text that is neither an address nor a network */
export function refuseUnreadable(proxy: string): void {
  const [address = "", bits = "0", ...rest] = proxy.split("/");
  const most = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) > 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most && rest.length === 0) return;
  throw new UsageError(
    `--trusted-proxies is ${JSON.stringify(proxy)}, expected addresses or networks`,
    "For example: --trusted-proxies 127.0.0.1 10.0.0.0/8",
  );
}

/** Explains why a server cannot listen; undefined for other errors. */
export function explainListening(error: NodeJS.ErrnoException, address: string): RelcatError | undefined {
  const refused = (message: string, hint: string) =>
    failure("address-taken", message, hint, undefined, error);
  if (error.code === "EADDRINUSE")
    return refused(
      `another program is listening on ${address}`,
      "Give another --port; --port 0 takes any free one.",
    );
  if (error.syscall !== "listen" && error.syscall !== "getaddrinfo") return undefined;
  return refused(
    `cannot listen on ${address} (${error.code})`,
    "Give another --host or --port; ports below 1024 need privileges.",
  );
}
