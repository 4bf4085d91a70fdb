import { table } from "../../cli/terminal/cells.ts";
import { answer, type Host, say } from "../../cli/terminal/host.ts";
import { count, naturally } from "../../cli/terminal/words.ts";
import { connect, type Place } from "./api.ts";
import { type AuditRow, auditTable } from "./controller-audit.ts";
import { type Device, readDevices, requireDevice } from "./devices-select.ts";

interface ListOptions extends Place {
  state?: string;
  serial?: string;
  search?: string;
}

export async function listDevices(options: ListOptions, host: Host): Promise<void> {
  const { state, serial, search } = options;
  const devices = await readDevices(connect(options, host), { state, serial, q: search });
  // With --json, devices keep the order of the API, which is the order of creation.
  answer<"devices-list">(host, { devices }, () =>
    devices.length === 0 ? "No device matches." : deviceTable(devices.toSorted(byName)),
  );
  if (!host.json && devices.length > 0) say(host, `${count(devices.length, "device")}.`);
}

const byName = (a: Device, b: Device): number =>
  naturally(a.name ?? "", b.name ?? "") || naturally(a.serial ?? "", b.serial ?? "");

export const deviceTable = (devices: readonly Device[]): string =>
  table([
    ["id", "state", "serial", "name", "type", "os", "last seen"],
    ...devices.map(({ id, state, serial, name, device_type, device_os, last_seen }) => [
      id,
      state,
      serial ?? "",
      name ?? "",
      device_type ?? "",
      device_os ?? "",
      last_seen ?? "",
    ]),
  ]);

export async function showDevice(selector: string, place: Place, host: Host): Promise<void> {
  const device = await requireDevice(connect(place, host), selector);
  answer<"devices-show">(host, { device }, () =>
    table(Object.entries(device).map(([member, value]) => [member, value === null ? "" : String(value)])),
  );
}

/** `relcat devices history`: changes of a device and their authors, newest first. */
export async function showHistory(selector: string, place: Place, host: Host): Promise<void> {
  const connection = connect(place, host);
  const { id } = await requireDevice(connection, selector);
  const query = new URLSearchParams({ target: id, limit: "1000" });
  const { audit_log: rows } = await connection.ask<{ audit_log: AuditRow[] }>("GET", `/audit_log?${query}`);
  answer<"devices-history">(host, { id, audit_log: rows }, () => auditTable(rows));
}
