import type { Connection, Place } from "../controller/api.ts";
import { confirmOrRefuse } from "../terminal/confirm.ts";
import { type Host, say } from "../terminal/host.ts";
import { count } from "../terminal/words.ts";
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

export const documentOf = <More extends object>(
  state: Exclude<State, "pending">,
  changed: readonly Device[],
  more: More,
) => ({
  state,
  changed: changed.map(({ id }) => id),
  ...more,
});

export const doneText = (state: State, amount: number, isTrial?: true): string =>
  isTrial
    ? `${count(amount, "device")} would be ${state}; nothing was changed.`
    : `${state === "accepted" ? "Accepted" : "Rejected"} ${count(amount, "device")}.`;

/**
 * Sets the state of devices that have not changed since they were read; others are conflicts.
 * @returns those that had another state
 */
export async function move(
  state: State,
  devices: readonly Device[],
  connection: Connection,
  { dryRun, reason, yes }: Pick<StateOptions, "dryRun" | "reason" | "yes">,
  host: Host,
): Promise<Device[]> {
  const due = devices.filter((device) => device.state !== state);
  if (due.length > handful && !dryRun) {
    if (!host.json && due.length <= 50) say(host, deviceTable(due));
    await confirmOrRefuse(`${state === "accepted" ? "Accept" : "Reject"} ${due.length} devices?`, yes, host);
  }
  const requests = Math.ceil(due.length / portion);
  if (requests > 1)
    say(
      host,
      `Sent in ${requests} requests of at most ${portion}; each is applied completely or not at all.`,
    );
  for (let start = 0; start < due.length; start += portion) {
    const items = due.slice(start, start + portion).map(({ id, version }) => ({
      id,
      state,
      if_version: version,
      ...(reason !== undefined && { reason }),
    }));
    try {
      await connection.ask("POST", "/device/state", { devices: items, ...(dryRun && { dry_run: true }) });
    } catch (error) {
      if (start > 0) say(host, `${start} of ${due.length} devices are ${state}; the others are unchanged.`);
      throw error;
    }
  }
  return due;
}
