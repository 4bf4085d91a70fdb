import type { OutputDocument } from "../../cli/output/outputs.ts";
import { type Host, say } from "../../cli/terminal/host.ts";
import { confirmOrRefuse } from "../../cli/terminal/usage.ts";
import { count, listed } from "../../cli/terminal/words.ts";
import type { Connection, Place } from "./api.ts";
import { deviceTable } from "./devices-list.ts";
import type { Device, State } from "./devices-select.ts";

export interface StateOptions extends Place {
  serials?: string;
  column?: string;
  preapprove?: true;
  allPending?: true;
  includeRejected?: true;
  dryRun?: true;
  reason?: string;
  yes?: true;
}

/** Maximum per request of the API. */
const portion = 1000;
/** Larger changes need a confirmation. */
const handful = 5;

type Moved = Omit<OutputDocument<"devices-state">, "state">;

export const doneLines = (state: State, { changed, already, dry_run }: Moved): string[] => [
  dry_run
    ? `${count(changed.length, "device")} would be ${state}; nothing was changed.`
    : `${state === "accepted" ? "Accepted" : "Rejected"} ${count(changed.length, "device")}.`,
  ...(already > 0 ? [`${already} already in that state.`] : []),
];

/** Sets the state of devices that have not changed since they were read; others are conflicts. */
export async function move(
  state: State,
  devices: readonly Device[],
  connection: Connection,
  { dryRun, reason, yes }: Pick<StateOptions, "dryRun" | "reason" | "yes">,
  host: Host,
): Promise<Moved> {
  const due = devices.filter((device) => device.state !== state);
  const requests = Math.ceil(due.length / portion);
  const send = async (dry_run?: true): Promise<SameSerial> => {
    const found: SameSerial[number][] = [];
    for (let start = 0; start < due.length; start += portion) {
      const items = due.slice(start, start + portion).map(({ id, version }) => ({
        id,
        state,
        if_version: version,
        ...(reason !== undefined && { reason }),
      }));
      try {
        const body = { devices: items, ...(dry_run && { dry_run }) };
        const answered = await connection.ask<{ same_serial?: SameSerial }>("POST", "/device/state", body);
        found.push(...(answered.same_serial ?? []));
      } catch (error) {
        if (start > 0 && !dry_run)
          say(host, `${start} of ${due.length} devices are ${state}; the others are unchanged.`);
        throw error;
      }
    }
    return found;
  };
  const isAsked = due.length > handful && !dryRun;
  // Warnings come before the question. Without a question, the change itself answers with them.
  const tried = dryRun || (isAsked && state === "accepted") ? await send(true) : [];
  warnOf(tried, due, host);
  if (isAsked) {
    if (!host.json && due.length <= 50) say(host, deviceTable(due));
    await confirmOrRefuse(`${state === "accepted" ? "Accept" : "Reject"} ${due.length} devices?`, yes, host);
  }
  if (requests > 1)
    say(
      host,
      `Sent in ${requests} requests of at most ${portion}; each is applied completely or not at all.`,
    );
  const same_serial = dryRun ? tried : await send();
  if (!isAsked && !dryRun) warnOf(same_serial, due, host);
  const [changed, already] = [due.map(({ id }) => id), devices.length - due.length];
  return { changed, already, same_serial, dry_run: dryRun ?? false };
}

type SameSerial = Moved["same_serial"];

/** Decides in advance on serial numbers. */
export async function decide(
  decisions: readonly { serial: string; enforce_state: string }[],
  connection: Connection,
  include_rejected = false,
): Promise<void> {
  for (let start = 0; start < decisions.length; start += portion) {
    const auth_decisions = decisions.slice(start, start + portion);
    await connection.ask("POST", "/device/auth_decisions", { auth_decisions, include_rejected });
  }
}

function warnOf(twins: SameSerial, devices: readonly Device[], host: Host): void {
  if (twins.length === 0) return;
  const known = new Map(devices.map((device) => [device.id, device]));
  const named = twins.map(
    ({ id, accepted }) => `${known.get(id)?.name ?? id} (${known.get(id)?.serial}), like ${accepted}`,
  );
  const what = `${count(twins.length, "device")} with the serial number of another accepted device`;
  const advice = "If it is the same machine with a new key, reject the other device first.";
  say(host, `${what}: ${listed(named, 10)}. ${advice}`);
}
