import { answer, type Host, say } from "../../cli/terminal/host.ts";
import { confirmOrRefuse, UsageError } from "../../cli/terminal/usage.ts";
import { count } from "../../cli/terminal/words.ts";
import { failure } from "../../shared/errors.ts";
import { connect, type Place } from "./api.ts";
import { nameOf, requireUser } from "./controller-users.ts";
import { deviceTable } from "./devices-list.ts";
import { type Device, requireDevice, requireDevices } from "./devices-select.ts";

export async function renameDevice(selector: string, name: string, place: Place, host: Host): Promise<void> {
  const connection = connect(place, host);
  const { id } = await requireDevice(connection, selector);
  const device = await connection.ask<Device>("POST", `/device/${id}`, { name });
  answer<"devices-show">(host, { device }, () => `${id} is now called ${name}.`);
}

export async function assignDevice(
  selector: string,
  options: Place & { user?: string; nobody?: true },
  host: Host,
): Promise<void> {
  const { user, nobody = false } = options;
  if ((user === undefined) !== nobody)
    throw new UsageError(
      "give either a new owner of the device or no owner",
      "Give --user EMAIL, or --nobody.",
    );
  const connection = connect(options, host);
  const { id } = await requireDevice(connection, selector);
  const owner = user === undefined ? undefined : await requireUser(connection, user);
  const body = { device_id: id, user_id: owner?.id ?? null };
  const device = await connection.ask<Device>("POST", "/device/assign", body);
  answer<"devices-show">(
    host,
    { device },
    () => `${id} is now assigned to ${owner ? nameOf(owner) : "no one"}.`,
  );
}

export async function deleteDevices(
  selectors: readonly string[],
  options: Place & { yes?: true },
  host: Host,
): Promise<void> {
  const connection = connect(options, host);
  const devices = await requireDevices(connection, selectors);
  const kept = devices.filter(({ state }) => state !== "rejected");
  if (kept.length > 0) {
    throw failure(
      "request-conflict",
      `only rejected devices can be deleted; ${kept.map(({ id, state }) => `${id} is ${state}`).join(", ")}`,
      "Reject them first with relcat devices reject; nothing was changed.",
    );
  }
  say(host, deviceTable(devices));
  await confirmOrRefuse(`Delete ${count(devices.length, "device")}? Their history stays.`, options.yes, host);
  for (const { id } of devices) await connection.ask("DELETE", `/device/${id}`);
  answer<"devices-delete">(
    host,
    { deleted: devices.map(({ id }) => id) },
    () => `Deleted ${count(devices.length, "device")}.`,
  );
  say(host, "Their serial numbers stay rejected.");
}
