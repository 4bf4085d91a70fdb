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
export const portion = 1000;
/** Larger changes need a confirmation. */
const handful = 5;

export const doneText = (state: State, amount: number, isTrial?: true): string =>
  isTrial
    ? `${count(amount, "device")} would be ${state}; nothing was changed.`
    : `${state === "accepted" ? "Accepted" : "Rejected"} ${count(amount, "device")}.`;

/**
 * Sets the state of devices that have not changed since they were read; others are conflicts.
 * @returns those that had another state, and those that share their serial number with another accepted device
 */
export async function move(
  state: State,
  devices: readonly Device[],
  connection: Connection,
  { dryRun, reason, yes }: Pick<StateOptions, "dryRun" | "reason" | "yes">,
  host: Host,
): Promise<{ changed: Device[]; same_serial: SameSerial }> {
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
  if (dryRun) return { changed: due, same_serial: tried };
  const same_serial = await send();
  if (!isAsked) warnOf(same_serial, due, host);
  return { changed: due, same_serial };
}

type SameSerial = OutputDocument<"devices-state">["same_serial"];

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
