import { z } from "zod";
import { moment, text } from "./fields.ts";

export const deviceStates = ["pending", "accepted", "rejected"] as const;
export type DeviceState = (typeof deviceStates)[number];

export const deviceSchema = z
  .strictObject({
    id: z.uuid(),
    name: text.nullable(),
    state: z.enum(deviceStates),
    serial: text.nullable(),
    public_key: text.describe("Ed25519, base64 of the 32 bytes."),
    ipv6: text.nullable(),
    device_type: text.nullable().describe("Kind of machine."),
    device_os: text.nullable(),
    controller_id: text.nullable().describe("Installation that manages the device."),
    owned_by_org: text.nullable().describe("The organisation that runs the controller."),
    assigned_to_user: text.nullable().describe("Id of the user."),
    last_seen: moment.nullable().describe("Time of the last call."),
    last_seen_version: text.nullable().describe("Version of the client at the last call."),
    version: z.int().describe("Increases with every change; for if_version."),
    created_at: moment,
    state_changed_at: moment,
    state_changed_by: text.nullable().describe("Author of the last change of state."),
    state_reason: text.nullable().describe("Reason, for people."),
  })
  .meta({ id: "Device", description: "A device with its state." });
export type Device = z.infer<typeof deviceSchema>;
