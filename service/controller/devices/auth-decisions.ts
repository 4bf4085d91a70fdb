import type { z } from "zod";
import { type Answer, at, type Call, nameOf, type Writing, write } from "../call.ts";
import type { decisionsRequestSchema } from "../documents.ts";
import { invalid, Refused } from "../problems.ts";
import type { SerialRow } from "../store/schema.ts";
import { readDeviceRow, serialKey } from "./device-rows.ts";

type Request = z.infer<typeof decisionsRequestSchema>;
type Decision = Request["auth_decisions"][number];

const told = ({ serial, enforce_state, device_id, source, created_at }: SerialRow) => ({
  serial,
  enforce_state,
  device_id,
  source,
  created_at,
});

/** `GET device/auth_decisions` */
export async function listAuthDecisions({ controller: { database } }: Call): Promise<Answer> {
  const rows = await database.read
    .selectFrom("serials")
    .selectAll()
    .orderBy("created_at")
    .orderBy("serial_key")
    .execute();
  return { status: 200, body: { auth_decisions: rows.map(told) } };
}

/** `POST device/auth_decisions`: all or nothing. */
export async function setAuthDecisions(call: Call<Request>): Promise<Answer> {
  const keyed = call.body.auth_decisions.map((decision, index) => ({
    ...decision,
    key: keyOf(decision, index),
  }));
  refuseRepeated(keyed.map(({ key }) => key));
  const rows = await write(call, async (writing) => {
    const results: SerialRow[] = [];
    for (const { key, ...decision } of keyed) results.push(...(await decide(call, writing, key, decision)));
    return results;
  });
  return { status: 200, body: { auth_decisions: rows.map(told) } };
}

function keyOf({ serial }: Decision, index: number): string {
  const key = serialKey(serial);
  if (key !== null) return key;
  throw invalid(
    `/auth_decisions/${index}/serial`,
    "placeholder",
    "Many machines have this serial number: it decides nothing.",
  );
}

function refuseRepeated(keys: readonly string[]): void {
  const index = keys.findIndex((key, at) => keys.indexOf(key) !== at);
  if (index !== -1)
    throw invalid(`/auth_decisions/${index}/serial`, "repeated", "The serial number stands twice.");
}

/** @returns the row there is afterwards, if any */
async function decide(
  call: Call,
  { transaction, record }: Writing,
  key: string,
  decision: Decision,
): Promise<SerialRow[]> {
  const { serial, enforce_state, device_id = null } = decision;
  const before = await transaction
    .selectFrom("serials")
    .selectAll()
    .where("serial_key", "=", key)
    .executeTakeFirst();
  if (device_id !== null && !(await readDeviceRow(transaction, device_id))) {
    throw new Refused("not-found", `There is no device ${JSON.stringify(device_id)}.`);
  }
  if (before?.source === "rejection" && enforce_state !== "rejected" && enforce_state !== "none") {
    throw new Refused(
      "conflict",
      `${JSON.stringify(serial)} is rejected with device ${before.device_id}: accept that device, or take the rejection back with none.`,
    );
  }
  const isSame = before?.enforce_state === enforce_state && before.device_id === device_id;
  if (before && (isSame || (before.source === "rejection" && enforce_state === "rejected"))) return [before];
  if (before) await transaction.deleteFrom("serials").where("serial_key", "=", key).execute();
  const told = before && { before: { enforce_state: before.enforce_state, source: before.source } };
  if (enforce_state === "none") {
    if (before)
      record({
        code: "serial.decided",
        target: { kind: "serial", id: key },
        ...told,
        after: { enforce_state },
      });
    return [];
  }
  const row: SerialRow = {
    serial_key: key,
    serial,
    enforce_state,
    device_id,
    source: "decision",
    created_by: nameOf(call),
    created_at: at(call.now),
  };
  await transaction.insertInto("serials").values(row).execute();
  record({
    code: "serial.decided",
    target: { kind: "serial", id: key },
    ...told,
    after: { enforce_state, device_id },
  });
  return [row];
}
