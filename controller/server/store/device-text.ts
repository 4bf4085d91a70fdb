import { type RawBuilder, sql } from "kysely";
import { deviceSchema } from "../device.ts";
import { rowAsText } from "./prepared.ts";
import type { DatabaseKind } from "./schema.ts";

/** Members of a device in output order; the other columns are internal. */
export const deviceMembers = deviceSchema.keyof().options;

/** A value that the database builds: the JSON text of a device, or null if there is none. */
export const deviceText = (kind: DatabaseKind, id: string | RawBuilder<unknown>): RawBuilder<string | null> =>
  rowAsText(kind, deviceMembers, sql`devices where devices.id = ${id}`);
