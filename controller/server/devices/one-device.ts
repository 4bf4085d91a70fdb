import type { z } from "zod";
import { type Answer, type Call, canonicalId, Refused, type Writing, write } from "../call.ts";
import { nameKeyOf } from "../store/name-key.ts";
import type { DeviceRow } from "../store/schema.ts";
import type { assignRequestSchema, deviceChangeSchema } from "./device-documents.ts";
import { deviceOf, findDeviceText, readDeviceRow } from "./device-rows.ts";

const unknown = () => new Refused("not-found", "There is no such device.");

export async function readDevice({ controller, params, device }: Call): Promise<Answer> {
  const read = () => findDeviceText(controller.database.read, canonicalId(params.id));
  const text = device === undefined ? (await read())[0]?.text : device;
  if (!text) throw unknown();
  return { status: 200, text };
}

export function changeDevice(call: Call<z.infer<typeof deviceChangeSchema>>): Promise<Answer> {
  const { name } = call.body;
  return change(call, canonicalId(call.params.id), "device.renamed", { name });
}

export function assignDevice(call: Call<z.infer<typeof assignRequestSchema>>): Promise<Answer> {
  const { device_id, user_id } = call.body;
  const assigned_to_user = user_id ? canonicalId(user_id) : null;
  return change(call, canonicalId(device_id), "device.assigned", { assigned_to_user });
}

async function change(
  call: Call,
  id: string,
  code: "device.renamed" | "device.assigned",
  values: Partial<Pick<DeviceRow, "name" | "assigned_to_user">>,
): Promise<Answer> {
  const device = await write(call, async ({ transaction, record }) => {
    const before = await requireDevice(transaction, id);
    if (values.assigned_to_user != null) await requireUser(transaction, values.assigned_to_user);
    const [member, value] = Object.entries(values)[0] as [keyof typeof values, string | null];
    if (before[member] === value) return before;
    const after = { ...before, ...values, version: before.version + 1 };
    await transaction
      .updateTable("devices")
      .set({ ...values, version: after.version, name_key: nameKeyOf(after.name, after.serial) })
      .where("id", "=", id)
      .execute();
    record({
      code,
      target: { kind: "device", id },
      before: { [member]: before[member] },
      after: { [member]: value },
    });
    return after;
  });
  return { status: 200, body: deviceOf(device) };
}

async function requireDevice(transaction: Writing["transaction"], id: string): Promise<DeviceRow> {
  const row = await readDeviceRow(transaction, id);
  if (!row) throw unknown();
  return row;
}

async function requireUser(transaction: Writing["transaction"], id: string): Promise<void> {
  const row = await transaction.selectFrom("users").select("id").where("id", "=", id).executeTakeFirst();
  if (!row) throw new Refused("not-found", "There is no such user.");
}

/** `DELETE device/{id}`: only for a rejected device; its serial number stays rejected. */
export async function deleteDevice(call: Call): Promise<Answer> {
  const id = canonicalId(call.params.id);
  await write(call, async ({ transaction, record }) => {
    const { state, name, serial } = await requireDevice(transaction, id);
    if (state !== "rejected") throw new Refused("conflict", `The device is ${state}: reject it first.`);
    await transaction.deleteFrom("devices").where("id", "=", id).execute();
    record({ code: "device.deleted", target: { kind: "device", id }, before: { state, name, serial } });
  });
  return { status: 204 };
}
