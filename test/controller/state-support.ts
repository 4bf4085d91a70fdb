import { createHash, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { writeAs } from "../../controller/server/call.ts";
import { nameKeyOf } from "../../controller/server/store/name-key.ts";
import type { DeviceRow } from "../../controller/server/store/schema.ts";
import type { Answered, TestController, TestKey } from "./support.ts";

type Fields = Partial<Omit<DeviceRow, "ordinal">>;

const rowsAtOnce = 500;

/**
 * Inserts devices directly, because thousands of enrolments would take too long. @returns their ids, in order
 */
export async function insertDevices(
  { controller }: TestController,
  count: number,
  fields: (index: number) => Fields = () => ({}),
): Promise<string[]> {
  const moment = new Date(controller.clock()).toISOString();
  const rows = Array.from({ length: count }, (_, index) => deviceRow(moment, fields(index)));
  await controller.database.write(async (transaction) => {
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      await transaction
        .insertInto("devices")
        .values(
          rows
            .slice(from, from + rowsAtOnce)
            .map((row) => ({ ...row, name_key: nameKeyOf(row.name, row.serial) })),
        )
        .execute();
    }
  });
  return rows.map(({ id }) => id);
}

/** The same, with the audit rows of their enrolment. */
export async function recordedDevices(controller: TestController, count: number): Promise<string[]> {
  const ids = await insertDevices(controller, count);
  const host = { kind: "host", id: null, name: "test", ip: null, request: null } as const;
  await writeAs(controller.controller, host, controller.now(), async ({ record }) => {
    const after = { state: "pending", name: null, serial: null };
    record(...ids.map((id) => ({ code: "device.enrolled", target: { kind: "device", id }, after }) as const));
  });
  return ids;
}

function deviceRow(moment: string, fields: Fields): Omit<DeviceRow, "ordinal"> {
  const id = randomUUID();
  return {
    id,
    name: null,
    state: "pending",
    serial: null,
    serial_key: fields.serial?.toLowerCase() ?? null,
    public_key: createHash("sha256").update(id).digest("base64"),
    ipv6: null,
    device_type: null,
    device_os: null,
    controller_id: null,
    owned_by_org: null,
    assigned_to_user: null,
    last_seen: null,
    last_seen_version: null,
    version: 1,
    created_at: moment,
    state_changed_at: moment,
    state_changed_by: null,
    state_reason: null,
    token_digest: null,
    ...fields,
  };
}

export interface Item {
  id: string;
  state: "pending" | "accepted" | "rejected";
  reason?: string;
  if_version?: number;
}

/** Sets states like a fleet's script. */
export const setStates = (
  { call }: Pick<TestController, "call">,
  { headers }: Pick<TestKey, "headers">,
  devices: readonly Item[],
  more: object = {},
  preference?: string,
): Promise<Answered> =>
  call("POST", "/device/state", {
    headers: { ...headers, ...(preference !== undefined && { prefer: preference }) },
    body: { devices, ...more },
  });

export const each = (ids: readonly string[], state: Item["state"]): Item[] =>
  ids.map((id) => ({ id, state }));

/** Current states, in order of creation. */
export async function statesOf(controller: TestController, key: TestKey): Promise<Item["state"][]> {
  const { json } = await controller.call("GET", "/device", key);
  return Object.values(json.devices as Record<string, Item>).map(({ state }) => state);
}

/** Everything visible of devices, serial numbers and the audit log, to compare before and after. */
export async function visible({ call }: TestController, key: TestKey): Promise<string[]> {
  const paths = ["/device", "/device/auth_decisions", "/audit_log?limit=1000"];
  const answers = await Promise.all(paths.map((path) => call("GET", path, key)));
  return answers.map(({ text }) => text);
}

export const allScopes = ["devices:read", "devices:state", "devices:write", "audit:read"] as const;

/** Makes a statement fail, like a full disk or a lost connection. */
export interface Fault {
  event: "insert" | "update" | "delete";
  table: "devices" | "serials" | "audit_log" | "meta";
  /** Condition on the row, as `new` or `old`. */
  when: string;
}

/** @returns a function that repairs it */
export async function breakDatabase(
  { controller: { database } }: TestController,
  { event, table, when }: Fault,
): Promise<() => Promise<void>> {
  const run = (...statements: string[]) =>
    database.write(async (transaction) => {
      for (const statement of statements) await sql.raw(statement).execute(transaction);
    });
  if (database.kind === "sqlite") {
    await run(
      `create trigger fault before ${event} on ${table} when ${when} begin select raise(abort, 'injected'); end`,
    );
    return () => run("drop trigger fault");
  }
  await run(
    "create or replace function injected() returns trigger language plpgsql as $$ begin raise exception 'injected'; end $$",
    `create trigger fault before ${event} on ${table} for each row when (${when}) execute function injected()`,
  );
  return () => run(`drop trigger fault on ${table}`);
}
