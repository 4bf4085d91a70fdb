import { createHash } from "node:crypto";
import { settings } from "../../controller/server/controller.ts";
import { newKeySchema } from "../../controller/server/keys/key-documents.ts";
import { openController } from "../../controller/server/node.ts";
import { askOnHost } from "../../controller/server/node-host.ts";
import { nameKeyOf } from "../../controller/server/store/name-key.ts";
import type { DeviceRow } from "../../controller/server/store/schema.ts";

export const pepper = "ab".repeat(32);

/** A database with devices, and a key that may read and decide on them. */
export interface Fleet {
  database: string;
  devices: number;
  /** How many were moved to another state so far, one after another, round after round. */
  moved: number;
  /** Value of the Authorization header. */
  authorization: string;
}

export async function makeFleet(database: string, devices: number): Promise<Fleet> {
  const controller = await openController({
    database,
    pepper,
    settings,
    clock: Date.now,
    log: () => {},
    create: true,
  });
  const { body } = await askOnHost(controller)("POST", "/api_keys", {});
  const { id, key } = newKeySchema.parse(body);
  await controller.database.note(async (writer) => {
    for (let from = 0; from < devices; from += batchSize) {
      const rows = Array.from({ length: Math.min(batchSize, devices - from) }, (_, each) =>
        device(from + each),
      );
      await writer.insertInto("devices").values(rows).execute();
    }
  });
  await controller.database.close();
  const pair = Buffer.from(`${id}:${key}`).toString("base64");
  return { database, devices, moved: 0, authorization: `Basic ${pair}` };
}

const batchSize = 500;
const moment = "2026-01-01T00:00:00.000Z";

/** As requests.lua names it. */
const idOf = (number: number): string => `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;

function device(number: number): Omit<DeviceRow, "ordinal"> & { name_key: string } {
  const serial = `C02${number.toString(36).toUpperCase().padStart(8, "0")}`;
  return {
    id: idOf(number),
    name: `laptop-${number}`,
    name_key: nameKeyOf(`laptop-${number}`, serial),
    state: "pending",
    serial,
    serial_key: serial.toLowerCase(),
    public_key: createHash("sha256").update(idOf(number)).digest("base64"),
    ipv6: `fd00::${number.toString(16)}`,
    device_type: "laptop",
    device_os: "linux",
    controller_id: null,
    owned_by_org: "example",
    assigned_to_user: null,
    last_seen: moment,
    last_seen_version: "1.2.3",
    version: 1,
    created_at: moment,
    state_changed_at: moment,
    state_changed_by: null,
    state_reason: null,
    token_digest: null,
  };
}
