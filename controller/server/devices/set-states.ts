import { type Kysely, sql } from "kysely";
import { type Answer, at, type Call, canonicalId, nameOf, write } from "../call.ts";
import { Refused } from "../problems.ts";
import type { AuditEntry } from "../store/audit-log.ts";
import { itemsOf, prepared, valuesOf } from "../store/prepared.ts";
import type { DeviceRow, Schema } from "../store/schema.ts";
import type { DeviceState, StateItem, StateRequest } from "./device-documents.ts";
import { findAccepted, twinsAmong } from "./device-rows.ts";

type Found = Pick<DeviceRow, "ordinal" | "id" | "state" | "version" | "serial" | "serial_key">;
type Item = StateRequest["devices"][number];

/** A change of a device's state. */
interface Move {
  device: Found;
  state: DeviceState;
  reason: string | null;
}

interface Decision {
  results: StateItem[];
  moves: Move[];
  sameSerial: { id: string; accepted: string }[];
}

/**
 * `POST device/state`: all or nothing in one transaction; with the client's preference, as much as possible.
 */
export async function setDeviceStates(call: Call<StateRequest>): Promise<Answer> {
  const { devices: items, dry_run: isTrial = false } = call.body;
  refuseContradictions(items);
  const isLenient = prefersLenient(call.request.header("prefer") ?? "");
  const { results, moves, sameSerial } = await write(call, async ({ transaction, record }) => {
    const decision = await decide(call, transaction, items);
    if (!isLenient) refuseFailures(decision.results);
    if (!isTrial) record(...(await apply(call, transaction, decision.moves)));
    return decision;
  });
  const same = sameSerial.length > 0 && { same_serial: sameSerial };
  const headers: Record<string, string> = isLenient ? { "Preference-Applied": "handling=lenient" } : {};
  return {
    status: 200,
    headers,
    body: { devices: results, changed: moves.length, ...same, ...(isTrial && { dry_run: true }) },
  };
}

const prefersLenient = (prefer: string): boolean =>
  prefer.split(",").some((preference) => /^\s*handling\s*=\s*"?lenient"?\s*(;|$)/i.test(preference));

/** A device may be listed twice, but not with different states. */
function refuseContradictions(items: readonly Item[]): void {
  const states = new Map<string, DeviceState>();
  const errors = items.flatMap(({ id: sent, state }, index) => {
    const id = canonicalId(sent);
    const isOther = states.has(id) && states.get(id) !== state;
    states.set(id, state);
    return isOther
      ? [
          {
            pointer: `/devices/${index}/state`,
            code: "contradiction",
            detail: "The device already appears with another state.",
          },
        ]
      : [];
  });
  if (errors.length > 0) throw new Refused("invalid", "One device cannot have two states.", { errors });
}

async function decide(
  { controller }: Call,
  transaction: Kysely<Schema>,
  items: readonly Item[],
): Promise<Decision> {
  const found = await readDevices(transaction, items);
  let room = await roomForAccepted(transaction, controller.settings.mostAccepted);
  const moves = new Map<string, Move>();
  const results = items.map((item): StateItem => {
    const device = found.get(canonicalId(item.id));
    if (!device) return failed(item, "not-found", "There is no such device.");
    const { if_version: expected, state } = item;
    if (expected !== undefined && expected !== device.version) {
      return failed(item, "version-conflict", `The device has version ${device.version}.`);
    }
    const previous = device.state as DeviceState;
    const isMove = previous !== state;
    if (isMove && !moves.has(device.id)) {
      if (state === "accepted" && room <= 0)
        return failed(item, "limit-reached", "No more devices can be accepted.");
      room += Number(previous === "accepted") - Number(state === "accepted");
      moves.set(device.id, { device, state, reason: item.reason ?? null });
    }
    return {
      id: item.id,
      state,
      previous_state: previous,
      changed: isMove,
      version: device.version + Number(isMove),
    };
  });
  return { results, moves: [...moves.values()], sameSerial: await sameSerials(transaction, moves) };
}

/** Acceptances after which another accepted device has the same serial number. */
async function sameSerials(
  transaction: Kysely<Schema>,
  moves: ReadonlyMap<string, Move>,
): Promise<Decision["sameSerial"]> {
  const due = [...moves.values()].filter(({ state }) => state === "accepted").map(({ device }) => device);
  if (due.length === 0) return [];
  const now = await findAccepted(transaction, JSON.stringify(due.map(({ serial_key }) => serial_key)));
  const twins = twinsAmong(due, [...now.filter(({ id }) => !moves.has(id)), ...due]);
  return [...twins].map(([id, other]) => ({ id, accepted: other.id }));
}

const failed = (
  { id }: Item,
  error: Extract<StateItem, { error: unknown }>["error"],
  detail: string,
): StateItem => ({ id, error, detail });

/** Decides the outcome of the whole request from its failures. */
function refuseFailures(results: StateItem[]): void {
  const errors = new Set(results.map((result) => ("error" in result ? result.error : undefined)));
  const more = { results };
  if (errors.has("not-found"))
    throw new Refused("not-found", "Some devices are unknown; nothing was changed.", { more });
  if (errors.has("version-conflict"))
    throw new Refused("conflict", "Some devices have another version; nothing was changed.", { more });
  if (errors.has("limit-reached"))
    throw new Refused("limit-reached", "No more devices can be accepted; nothing was changed.", { more });
}

async function roomForAccepted(transaction: Kysely<Schema>, most: number | undefined): Promise<number> {
  if (most === undefined) return Number.POSITIVE_INFINITY;
  const row = await transaction
    .selectFrom("devices")
    .select(({ fn }) => fn.countAll().as("count"))
    .where("state", "=", "accepted")
    .executeTakeFirst();
  return most - Number(row?.count ?? 0);
}

const findDevices = prepared(
  ({ kind }, ids: string) => sql<Found>`
    select ordinal, id, state, version, serial, serial_key from devices
    where id in ${valuesOf(kind, "text", ids)}`,
);

async function readDevices(transaction: Kysely<Schema>, items: readonly Item[]): Promise<Map<string, Found>> {
  const rows = await findDevices(transaction, JSON.stringify(items.map(({ id }) => canonicalId(id))));
  return new Map(rows.map((row) => [row.id, row]));
}

/** One statement for all devices takes half the time of separate ones. */
const updateAlike = prepared(
  ({ kind }, ordinals: string, state: string, reason: string | null, now: string, by: string) => sql`
    update devices set state = ${state}, state_reason = ${reason}, state_changed_at = ${now}, state_changed_by = ${by},
      version = version + 1, token_digest = case when cast(${state} as text) = 'accepted' then token_digest end
    where ordinal in ${valuesOf(kind, "bigint", ordinals)}`,
);

const updateStates = prepared(
  ({ kind }, moves: string, now: string, by: string) => sql`
    update devices set state = given.state, state_reason = given.reason, state_changed_at = ${now}, state_changed_by = ${by},
      version = devices.version + 1, token_digest = case when given.state = 'accepted' then token_digest end
    from (select value ->> 0 as id, value ->> 1 as state, value ->> 2 as reason from ${itemsOf(kind, moves)}) as given
    where devices.id = given.id`,
);

/**
 * Changes device states: leaving `accepted` deletes the token, rejection also rejects the serial number, and
 * acceptance releases it.
 * @returns audit records
 */
async function apply(call: Call, transaction: Kysely<Schema>, moves: readonly Move[]): Promise<AuditEntry[]> {
  if (moves.length === 0) return [];
  const [now, by] = [at(call.now), nameOf(call)];
  await update(transaction, moves, now, by);
  await moveSerials(transaction, moves, now, by);
  return moves.map(({ device, state, reason }) => ({
    code: "device.state",
    target: { kind: "device", id: device.id },
    // Omits the previous reason, which would read as the reason for this change; its own row has it.
    before: { state: device.state },
    after: { state, ...(reason !== null && { reason }) },
  }));
}

async function update(
  transaction: Kysely<Schema>,
  moves: readonly Move[],
  now: string,
  by: string,
): Promise<void> {
  const [{ state, reason } = { state: "", reason: null }] = moves;
  if (moves.every((move) => move.state === state && move.reason === reason)) {
    const ordinals = JSON.stringify(moves.map(({ device }) => device.ordinal));
    await updateAlike(transaction, ordinals, state, reason, now, by);
    return;
  }
  const given = moves.map(({ device: { id }, ...move }) => [id, move.state, move.reason]);
  await updateStates(transaction, JSON.stringify(given), now, by);
}

const freeSerials = prepared(
  ({ kind }, serials: string) => sql`
    delete from serials where source = 'rejection' and serial_key in ${valuesOf(kind, "text", serials)}`,
);

const rejectSerials = prepared(
  ({ kind }, serials: string, now: string, by: string) => sql`
    insert into serials (serial_key, serial, enforce_state, device_id, source, created_by, created_at)
    select value ->> 0, value ->> 1, 'rejected', value ->> 2, 'rejection', ${by}, ${now} from ${itemsOf(kind, serials)} where true
    on conflict (serial_key) do update set enforce_state = 'rejected', device_id = excluded.device_id, source = 'rejection',
      created_by = excluded.created_by, created_at = excluded.created_at`,
);

async function moveSerials(
  transaction: Kysely<Schema>,
  moves: readonly Move[],
  now: string,
  by: string,
): Promise<void> {
  const of = (state: DeviceState) => [
    ...new Map(
      moves
        .filter((move) => move.state === state && move.device.serial_key !== null)
        .map(({ device: { id, serial, serial_key } }) => [serial_key, [serial_key, serial, id]]),
    ).values(),
  ];
  const [accepted, rejected] = [of("accepted"), of("rejected")];
  if (accepted.length > 0) await freeSerials(transaction, JSON.stringify(accepted.map(([key]) => key)));
  if (rejected.length > 0) await rejectSerials(transaction, JSON.stringify(rejected), now, by);
}
