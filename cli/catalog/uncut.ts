import { openSettings, uncut } from "../../pipeline/index.ts";
import { answer, commandContext, type Host, sayNext } from "../terminal/host.ts";
import { count } from "../terminal/words.ts";
import { ledgerGuard } from "./ledger-guard.ts";

export async function uncutRelease(
  version: string,
  { dryRun, ...options }: { dryRun?: true; ledgerBase?: string },
  host: Host,
): Promise<void> {
  const base = options.ledgerBase ?? (await openSettings(host.releases)).config.ledgerBase;
  const guard = ledgerGuard({ revision: base }, host);
  const { events } = await uncut(host.releases, version, base, {
    ...commandContext(host),
    proveLedger: guard.prove,
    dryRun,
  });
  const ids = events.flatMap((event) => (event.event === "add" ? [event.id] : []));
  answer<"uncut">(host, { version, lines: events.length, ids, dry_run: dryRun ?? false }, () => {
    const [first, last] = [ids[0], ids.at(-1)];
    const range = first === last ? `the id ${first}` : `the ids ${first} to ${last}`;
    const lines = `${count(events.length, "ledger line")} of ${version}`;
    if (dryRun) return `Would undo the cut: remove ${lines} and free ${range}; nothing was written.`;
    return `Removed ${lines}; ${range} ${first === last ? "is" : "are"} free again.`;
  });
  sayNext(host, `relcat check, then relcat cut ${version}`, dryRun);
}
