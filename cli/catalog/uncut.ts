import { exitStatus, type LedgerChange, loadConfig, uncut } from "../../pipeline/index.ts";
import { answer, type Host, sayNext, surroundings } from "../terminal/host.ts";
import { count } from "../terminal/words.ts";
import { LedgerGuard } from "./ledger-guard.ts";

/** `relcat uncut`: undoes the last cut if it has not been pushed or published. */
export async function uncutRelease(
  version: string,
  options: { ledgerBase?: string },
  host: Host,
): Promise<number> {
  const base = options.ledgerBase ?? (await loadConfig(host.releases)).ledgerBase;
  const guard = new LedgerGuard({}, host, base);
  const { events } = await uncut(host.releases, version, base, {
    ...surroundings(host),
    proveLedger: guard.prove,
  });
  const ids = addedIds(events);
  answer(host, { version, lines: events.length, ids }, () => {
    const [first, last] = [ids[0], ids.at(-1)];
    const range = first === last ? `the id ${first} is` : `the ids ${first} to ${last} are`;
    return `Took back ${count(events.length, "ledger line")} of ${version}; ${range} free again.`;
  });
  sayNext(host, `relcat check, then relcat cut ${version}`);
  return exitStatus.done;
}

const addedIds = (events: LedgerChange["events"]): number[] =>
  events.flatMap((event) => (event.event === "add" ? [event.id] : []));
