import { type Expression, type Kysely, type RawBuilder, sql } from "kysely";
import { deviceMembers, deviceText } from "../store/device-text.ts";
import { objectOf, prepared, valuesOf } from "../store/prepared.ts";
import type { DatabaseKind, DeviceRow, Schema, SerialRow } from "../store/schema.ts";
import type { Device, DeviceState } from "./device-documents.ts";

export { serialKey } from "./serials.ts";

/** Omits internal columns. */
export function deviceOf(row: DeviceRow): Device {
  return Object.fromEntries(deviceMembers.map((member) => [member, row[member]])) as Device;
}

export const readDeviceRow = (database: Kysely<Schema>, id: string): Promise<DeviceRow | undefined> =>
  database.selectFrom("devices").selectAll().where("id", "=", id).executeTakeFirst();

export const readSerial = (database: Kysely<Schema>, key: string): Promise<SerialRow | undefined> =>
  database.selectFrom("serials").selectAll().where("serial_key", "=", key).executeTakeFirst();

export async function countOf(database: Kysely<Schema>, state: DeviceState): Promise<number> {
  const row = await database
    .selectFrom("devices")
    .select(({ fn }) => fn.countAll().as("count"))
    .where("state", "=", state)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

export const findDeviceText = prepared(
  ({ kind }, id: string) => sql<{ text: string | null }>`select ${deviceText(kind, id)} as text`,
);

/** Accepted devices with one of the serial numbers. @param serials JSON array of normalized ones */
export const findAccepted = prepared(
  ({ kind }, serials: string) => sql<Pick<DeviceRow, "id" | "name" | "serial_key">>`
    select id, name, serial_key from devices
    where state = 'accepted' and serial_key in ${valuesOf(kind, "text", serials)} order by ordinal`,
);

export type Keyed = Pick<DeviceRow, "id" | "serial_key">;

/** By id, another accepted device with the same serial number: a machine has a new key, or one device states a wrong number. */
export function twinsAmong<Row extends Keyed>(
  devices: readonly Keyed[],
  accepted: readonly Row[],
): Map<string, Row> {
  const known = Map.groupBy(accepted, ({ serial_key }) => serial_key);
  return new Map(
    devices.flatMap(({ id, serial_key }) => {
      const other = serial_key === null ? undefined : known.get(serial_key)?.find((each) => each.id !== id);
      return other ? [[id, other]] : [];
    }),
  );
}

/** The database builds the JSON text of a page, keyed by id, which is seven times as fast as reading rows. */
export function devicesAsText(
  kind: DatabaseKind,
  page: Expression<unknown>,
  order: RawBuilder<unknown> = sql`ordinal`,
): RawBuilder<{ text: string | null; last: number | null; count: number }> {
  const device = objectOf(kind, deviceMembers);
  const byId =
    kind === "sqlite"
      ? sql`json_group_object(id, ${device})`
      : sql`json_object_agg(id, ${device} order by ${order})::text`;
  return sql`select ${byId} as text, max(ordinal) as last, cast(count(*) as integer) as count from (${page}) as page`;
}
