import { type Kysely, type RawBuilder, sql } from "kysely";
import { keysAsText } from "../auth/authenticate.ts";
import { type Answer, actorOf, at, type Call, canonicalId, Refused } from "../call.ts";
import type { Controller } from "../controller.ts";
import { type Actor, appendAuditEntries, head, headOf, type Recorded } from "../store/audit-log.ts";
import { itemsOf, prepared, rowsAsText, valuesOf } from "../store/prepared.ts";
import type { Database, DatabaseKind, DeviceRow, Schema, Work } from "../store/schema.ts";
import type { DeviceState, StateItem, StateRequest } from "./device-documents.ts";
import { countOf, type Keyed, twinsAmong } from "./device-rows.ts";

const found = ["ordinal", "id", "state", "version", "serial", "serial_key"] as const;
/** rejection: not null if the serial number is rejected. */
type Found = Pick<DeviceRow, (typeof found)[number]> & { rejection: string | null };
type Item = StateRequest["devices"][number];
type StateCall = Call<StateRequest>;

interface Move {
  device: Found;
  state: DeviceState;
  reason: string | null;
  at: string;
  actor: Actor;
}

interface Decision {
  results: StateItem[];
  moves: Move[];
  sameSerial: { id: string; accepted: string }[];
}

/** `POST device/state`: all or nothing in one transaction; with the client's preference, as much as possible. */
export async function setDeviceStates(call: StateCall): Promise<Answer> {
  const { devices: items, dry_run: isTrial = false } = call.body;
  refuseContradictions(items);
  const { results, moves, sameSerial } = await decideInTurn(call);
  const same = sameSerial.length > 0 && { same_serial: sameSerial };
  const headers: Record<string, string> = isLenient(call) ? { "Preference-Applied": "handling=lenient" } : {};
  return {
    status: 200,
    headers,
    body: { devices: results, changed: moves.length, ...same, ...(isTrial && { dry_run: true }) },
  };
}

interface Waiting {
  call: StateCall;
  resolve(decision: Decision): void;
  reject(error: unknown): void;
}

/** Requests that have not begun, by database. */
const queues = new WeakMap<Database, Waiting[]>();

/** Requests that wait at the same time are read and written together, and each is answered for itself. */
function decideInTurn(call: StateCall): Promise<Decision> {
  const { database } = call.controller;
  const queue = queues.get(database) ?? [];
  queues.set(database, queue);
  return new Promise((resolve, reject) => {
    queue.push({ call, resolve, reject });
    if (queue.length === 1) void settle(call.controller, () => take(queue));
  });
}

/** Limit of the devices of several requests; a single request may have as many. */
const devicesTogether = 1000;

function take(queue: Waiting[]): Waiting[] {
  let devices = 0;
  const end = queue.findIndex(({ call }) => {
    devices += call.body.devices.length;
    return devices > devicesTogether;
  });
  const taken = queue.splice(0, end === -1 ? queue.length : Math.max(1, end));
  const [next] = queue;
  if (next) void settle(next.call.controller, () => take(queue));
  return taken;
}

const settleAlone = (each: Waiting) => void settle(each.call.controller, () => [each]);

async function settle(controller: Controller, some: () => Waiting[]): Promise<void> {
  let waiting: Waiting[] | undefined;
  try {
    const answers = await controller.database.write((transaction, send) => {
      waiting = some();
      return decideTogether(controller, waiting, transaction, send);
    });
    for (const answer of answers) answer();
  } catch (error) {
    // One of several requests may be the reason.
    waiting ??= some();
    for (const each of waiting) waiting.length === 1 ? each.reject(error) : settleAlone(each);
  }
}

/** @returns functions that answer the requests after the commit */
async function decideTogether(
  { pepper, settings }: Controller,
  waiting: readonly Waiting[],
  ...[transaction, send]: Parameters<Work<unknown>>
): Promise<(() => void)[]> {
  const known = await readAll(transaction, waiting, settings.mostAccepted);
  const moves: Move[] = [];
  const changed = new Set<string | null>();
  const answers = waiting.map((each) => {
    const { call, resolve, reject } = each;
    const ids = call.body.devices.map(({ id }) => canonicalId(id));
    const isChanged = (id: string) => changed.has(id) || changed.has(known.devices.get(id)?.serial_key ?? id);
    if (changed.size > 0 && ids.some(isChanged)) return () => settleAlone(each);
    try {
      const { room, ...decision } = decide(asNow(call, known), known);
      if (!isLenient(call)) refuseFailures(decision.results);
      if (!call.body.dry_run) {
        known.room = room;
        moves.push(...decision.moves);
        for (const { device } of decision.moves) changed.add(device.id).add(device.serial_key);
      }
      return () => resolve(decision);
    } catch (refusal) {
      return () => reject(refusal);
    }
  });
  if (moves.length > 0) statementsOf(transaction, moves).forEach(send);
  appendAuditEntries(transaction, pepper, headOf(pepper, known.head), moves.map(entryOf)).forEach(send);
  return answers;
}

/** @throws Refused if the key has lost the right since it was read */
function asNow(call: StateCall, { keys }: Known): StateCall {
  const { later } = call;
  if (!later) return call;
  const principal = later.principal(keys.get(later.id));
  if (!principal) throw new Refused("unauthorized", "The credentials are not valid here.");
  return { ...call, principal };
}

const isLenient = ({ request }: StateCall): boolean => prefersLenient(request.header("prefer") ?? "");

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

/** @returns also how many more devices can be accepted afterwards */
function decide(call: StateCall, { devices, accepted, room }: Known): Decision & { room: number } {
  const [now, actor] = [at(call.now), actorOf(call)];
  const moves = new Map<string, Move>();
  const results = call.body.devices.map((item): StateItem => {
    const device = devices.get(canonicalId(item.id));
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
      moves.set(device.id, { device, state, reason: item.reason ?? null, at: now, actor });
    }
    return {
      id: item.id,
      state,
      previous_state: previous,
      changed: isMove,
      version: device.version + Number(isMove),
    };
  });
  return { results, moves: [...moves.values()], sameSerial: sameSerials(accepted, moves), room };
}

/** Acceptances after which another accepted device has the same serial number. */
function sameSerials(accepted: readonly Keyed[], moves: ReadonlyMap<string, Move>): Decision["sameSerial"] {
  const due = [...moves.values()].filter(({ state }) => state === "accepted").map(({ device }) => device);
  const twins = twinsAmong(due, [...accepted.filter(({ id }) => !moves.has(id)), ...due]);
  return [...twins].map(([id, other]) => ({ id, accepted: other.id }));
}

const failed = (
  { id }: Item,
  error: Extract<StateItem, { error: unknown }>["error"],
  detail: string,
): StateItem => ({ id, error, detail });

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

interface Known {
  keys: ReadonlyMap<string, object>;
  devices: ReadonlyMap<string, Found>;
  /** Accepted devices that have a serial number of those that are to be accepted. */
  accepted: readonly Keyed[];
  /** How many more devices can be accepted. */
  room: number;
  head: string | null;
}

/** Reads everything with one statement, because each one is a round trip to PostgreSQL. */
async function readAll(
  transaction: Kysely<Schema>,
  waiting: readonly Waiting[],
  most: number | undefined,
): Promise<Known> {
  const items = waiting.flatMap(({ call }) => call.body.devices);
  const idsOf = (some: readonly Item[]) => JSON.stringify(some.map(({ id }) => canonicalId(id)));
  const accepting = idsOf(items.filter(({ state }) => state === "accepted"));
  const keys = JSON.stringify([...new Set(waiting.flatMap(({ call }) => call.later?.id ?? []))]);
  const [[row], count] = await Promise.all([
    readTexts(transaction, keys, idsOf(items), accepting),
    most === undefined ? 0 : countOf(transaction, "accepted"),
  ]);
  const listOf = (text: string | undefined) => JSON.parse(text ?? "[]");
  const byId = <Row extends { id: string }>(rows: readonly Row[]) =>
    new Map(rows.map((each) => [each.id, each]));
  return {
    keys: byId<{ id: string }>(listOf(row?.keys)),
    devices: byId<Found>(listOf(row?.devices)),
    accepted: listOf(row?.accepted).sort((one: Found, other: Found) => one.ordinal - other.ordinal),
    room: (most ?? Number.POSITIVE_INFINITY) - count,
    head: row?.head ?? null,
  };
}

const readTexts = prepared(
  ({ kind }, keys: string, ids: string, accepting: string) => sql<
    Record<"keys" | "devices" | "accepted", string> & { head: string | null }
  >`select ${keysAsText(kind, keys)} as keys,
    ${rowsAsText(
      kind,
      [...found.map((name) => `devices.${name}`), "devices.rejection"],
      // PostgreSQL would read all serial numbers for each device of a join, until it has statistics.
      sql`(select devices.*, (select source from serials where serial_key = devices.serial_key and source = 'rejection') as rejection
        from devices where id in ${valuesOf(kind, "text", ids)}) as devices`,
    )} as devices,
    ${rowsAsText(kind, ["alike.ordinal", "alike.id", "alike.serial_key"], acceptedLike(kind, accepting))} as accepted,
    (select value from meta where key = ${sql.lit(head)}) as head`,
);

/** An index on `state` would lead to all accepted devices; without `lateral`, PostgreSQL would read all devices. */
function acceptedLike(kind: DatabaseKind, ids: string): RawBuilder<unknown> {
  const given = valuesOf(kind, "text", ids);
  return kind === "sqlite"
    ? sql`devices as alike where state || '' = 'accepted'
        and serial_key in (select serial_key from devices where id in ${given})`
    : sql`devices as mine cross join lateral (select ordinal, id, serial_key from devices
        where serial_key = mine.serial_key and state || '' = 'accepted' offset 0) as alike where mine.id in ${given}`;
}

const updateStates = prepared(
  ({ kind }, moves: string) => sql`
    update devices set state = given.state, state_reason = given.reason, state_changed_at = given.at, state_changed_by = given.by,
      version = devices.version + 1, token_digest = case when given.state = 'accepted' then token_digest end
    from (select cast(value ->> 0 as bigint) as ordinal, value ->> 1 as state, value ->> 2 as reason, value ->> 3 as at, value ->> 4 as by
      from ${itemsOf(kind, moves)}) as given
    where devices.ordinal = given.ordinal`,
);

const entryOf = ({ device, state, reason, at, actor }: Move): Recorded => ({
  at,
  actor,
  entry: {
    code: "device.state",
    target: { kind: "device", id: device.id },
    // Omits the previous reason, which would read as the reason for this change; its own row has it.
    before: { state: device.state },
    after: { state, ...(reason !== null && { reason }) },
  },
});

const authorOf = ({ actor }: Move) => `${actor.kind}:${actor.id}`;

/** Leaving `accepted` deletes the token, rejection also rejects the serial number, and acceptance releases it. */
function statementsOf(transaction: Kysely<Schema>, moves: readonly Move[]): Promise<unknown>[] {
  const given = moves.map((move) => [move.device.ordinal, move.state, move.reason, move.at, authorOf(move)]);
  const of = (isDue: (move: Move) => boolean) => [
    ...new Map(moves.filter(isDue).map((move) => [move.device.serial_key, move])).values(),
  ];
  const freed = of(({ state, device }) => state === "accepted" && device.rejection !== null);
  const rejected = of(({ state, device }) => state === "rejected" && device.serial_key !== null).map(
    (move) => [move.device.serial_key, move.device.serial, move.device.id, authorOf(move), move.at],
  );
  const keys = JSON.stringify(freed.map(({ device }) => device.serial_key));
  return [
    updateStates(transaction, JSON.stringify(given)),
    ...(freed.length > 0 ? [freeSerials(transaction, keys)] : []),
    ...(rejected.length > 0 ? [rejectSerials(transaction, JSON.stringify(rejected))] : []),
  ];
}

const freeSerials = prepared(
  ({ kind }, serials: string) => sql`
    delete from serials where source = 'rejection' and serial_key in ${valuesOf(kind, "text", serials)}`,
);

const rejectSerials = prepared(
  ({ kind }, serials: string) => sql`
    insert into serials (serial_key, serial, enforce_state, device_id, source, created_by, created_at)
    select value ->> 0, value ->> 1, 'rejected', value ->> 2, 'rejection', value ->> 3, value ->> 4
      from ${itemsOf(kind, serials)} where true
    on conflict (serial_key) do update set enforce_state = 'rejected', device_id = excluded.device_id, source = 'rejection',
      created_by = excluded.created_by, created_at = excluded.created_at`,
);
