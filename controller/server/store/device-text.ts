import { type RawBuilder, sql } from "kysely";
import { rowAsText } from "./prepared.ts";
import type { DatabaseKind, DeviceRow } from "./schema.ts";

/** Members of a device in output order. */
export const deviceMembers = [
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
] as const satisfies (keyof DeviceRow)[];

/** Arguments of a function that builds a JSON object. */
export const members = sql.join(deviceMembers.flatMap((member) => [sql.lit(member), sql.ref(member)]));

/** A value that the database builds: the JSON text of a device, or null if there is none. */
export const deviceText = (kind: DatabaseKind, id: string | RawBuilder<unknown>): RawBuilder<string | null> =>
  rowAsText(kind, deviceMembers, sql`devices where devices.id = ${id}`);
