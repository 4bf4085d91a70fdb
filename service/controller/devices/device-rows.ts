import { type Expression, type Kysely, type RawBuilder, sql } from "kysely";
import type { Device } from "../documents.ts";
import type { DatabaseKind } from "../store/database.ts";
import { prepared } from "../store/prepared.ts";
import type { DeviceRow, Schema } from "../store/schema.ts";

export { serialKey } from "./serials.ts";

/** The members of a device, in the order they are told. */
const deviceMembers = [
  "id",
  "name",
  "state",
  "serial",
  "public_key",
  "ipv6",
  "device_type",
  "device_os",
  "controller_id",
  "owned_by_org",
  "assigned_to_user",
  "last_seen",
  "last_seen_version",
  "version",
  "created_at",
  "state_changed_at",
  "state_changed_by",
  "state_reason",
] as const satisfies (keyof Device & keyof DeviceRow)[];

/** A row without what is nobody's business outside. */
export function deviceOf(row: DeviceRow): Device {
  return Object.fromEntries(deviceMembers.map((member) => [member, row[member]])) as Device;
}

export const readDeviceRow = (database: Kysely<Schema>, id: string): Promise<DeviceRow | undefined> =>
  database.selectFrom("devices").selectAll().where("id", "=", id).executeTakeFirst();

const members = sql.join(deviceMembers.flatMap((member) => [sql.lit(member), sql.ref(member)]));

/** A device as it is told: text of a JSON object, made by the database. */
export const findDeviceText = prepared(({ kind }, id: string) =>
  kind === "sqlite"
    ? sql<{ text: string }>`select json_object(${members}) as text from devices where id = ${id}`
    : sql<{ text: string }>`select json_build_object(${members})::text as text from devices where id = ${id}`,
);

/** A page of devices as text of a JSON object by id, made by the database: seven times as fast as by rows. */
export function devicesAsText(
  kind: DatabaseKind,
  page: Expression<unknown>,
): RawBuilder<{ text: string | null; last: number | null; count: number }> {
  return kind === "sqlite"
    ? sql`select json_group_object(id, json_object(${members})) as text, max(ordinal) as last, count(*) as count from (${page})`
    : sql`select json_object_agg(id, json_build_object(${members}) order by ordinal)::text as text, max(ordinal) as last,
        count(*)::integer as count from (${page}) as page`;
}
