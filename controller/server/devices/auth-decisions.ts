import type { z } from "zod";
import {
  type Answer,
  at,
  type Call,
  canonicalId,
  invalid,
  nameOf,
  Refused,
  type Writing,
  write,
} from "../call.ts";
import type { SerialRow } from "../store/schema.ts";
import type { decisionsRequestSchema } from "./device-documents.ts";
import { readDeviceRow, readSerial, serialKey } from "./device-rows.ts";

type Request = z.infer<typeof decisionsRequestSchema>;
type Decision = Request["auth_decisions"][number];

const decisionOf = ({ serial, enforce_state, device_id, source, created_at }: SerialRow) => ({
  serial,
  enforce_state,
  device_id,
  source,
  created_at,
});

export async function listAuthDecisions({ controller: { database } }: Call): Promise<Answer> {
  const rows = await database.read
    .selectFrom("serials")
    .selectAll()
    .orderBy("created_at")
    .orderBy("serial_key")
    .execute();
  return { status: 200, body: { auth_decisions: rows.map(decisionOf) } };
}

/** Maximum number of rejected serial numbers named in a message. */
const maxNamed = 3;

/** `POST device/auth_decisions`: all or nothing, but rejected serial numbers are left out of a list of acceptances. */
export async function setAuthDecisions(call: Call<Request>): Promise<Answer> {
  const keyed = call.body.auth_decisions.map((decision, index) => ({
    ...decision,
    key: keyOf(decision, index),
  }));
  refuseRepeated(keyed.map(({ key }) => key));
  const { include_rejected: isIncluded = false } = call.body;
  const leftOut: string[] = [];
  const rows = await write(call, async (writing) => {
    const results: SerialRow[] = [];
    for (const { key, ...decision } of keyed) {
      const before = await readSerial(writing.transaction, key);
      const isRejected = before?.enforce_state === "rejected" && decision.enforce_state === "accepted";
      if (isRejected && !isIncluded && keyed.length > 1) {
        leftOut.push(decision.serial);
        results.push(before);
        continue;
      }
      if (!isRejected || !isIncluded) refuseRejected(before, decision);
      results.push(...(await decide(call, writing, key, decision, before)));
    }
    return results;
  });
  const left_out = { rejected: leftOut.length, serials: leftOut.slice(0, maxNamed) };
  return {
    status: 200,
    body: { auth_decisions: rows.map(decisionOf), ...(leftOut.length > 0 && { left_out }) },
  };
}

/** A rejection that came from a rejected device needs an explicit override. */
function refuseRejected(before: SerialRow | undefined, { serial, enforce_state }: Decision): void {
  if (before?.source !== "rejection" || enforce_state === "rejected" || enforce_state === "none") return;
  throw new Refused(
    "conflict",
    `${JSON.stringify(serial)} is rejected with device ${before.device_id}: accept that device, or remove the rejection with none.`,
  );
}

function keyOf({ serial }: Decision, index: number): string {
  const key = serialKey(serial);
  if (key !== null) return key;
  throw invalid(
    `/auth_decisions/${index}/serial`,
    "placeholder",
    "Many machines have this serial number, so it cannot decide anything.",
  );
}

function refuseRepeated(keys: readonly string[]): void {
  const index = keys.findIndex((key, at) => keys.indexOf(key) !== at);
  if (index !== -1)
    throw invalid(`/auth_decisions/${index}/serial`, "repeated", "The serial number is repeated.");
}

async function decide(
  call: Call,
  { transaction, record }: Writing,
  key: string,
  decision: Decision,
  before: SerialRow | undefined,
): Promise<SerialRow[]> {
  const { serial, enforce_state } = decision;
  const device_id = decision.device_id ? canonicalId(decision.device_id) : null;
  if (device_id !== null && !(await readDeviceRow(transaction, device_id))) {
    throw new Refused("not-found", `There is no device ${JSON.stringify(device_id)}.`);
  }
  const isSame = before?.enforce_state === enforce_state && before.device_id === device_id;
  if (before && (isSame || (before.source === "rejection" && enforce_state === "rejected"))) return [before];
  if (before) await transaction.deleteFrom("serials").where("serial_key", "=", key).execute();
  if (!before && enforce_state === "none") return [];
  record({
    code: "serial.decided",
    target: { kind: "serial", id: key },
    ...(before && { before: { enforce_state: before.enforce_state, source: before.source } }),
    after: { enforce_state, ...(enforce_state !== "none" && { device_id }) },
  });
  if (enforce_state === "none") return [];
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
  return [row];
}
