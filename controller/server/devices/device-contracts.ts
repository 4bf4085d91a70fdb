import { idsOnly, largeBody, type OperationContracts } from "../contract.ts";
import {
  assignRequestSchema,
  decisionsAnswerSchema,
  decisionsRequestSchema,
  decisionsSchema,
  deviceChangeSchema,
  deviceMapSchema,
  deviceQuerySchema,
  deviceSchema,
  enrollAnswerSchema,
  enrollRequestSchema,
  nonceSchema,
  stateAnswerSchema,
  stateRequestSchema,
} from "./device-documents.ts";

export const deviceContracts = {
  listDevices: {
    summary: "List devices",
    description:
      "All devices, or with limit one page; Link has the next and the previous page, X-Total-Count the number of matches.",
    access: { scope: "devices:read" },
    query: deviceQuerySchema,
    success: { description: "Devices by id.", schema: deviceMapSchema },
    problems: ["invalid"],
  },
  setDeviceStates: {
    summary: "Accept and reject devices",
    description: "All or nothing; with Prefer: handling=lenient as many as possible.",
    access: { scope: "devices:state" },
    identifies: true,
    audit: ["device.state"],
    body: {
      schema: stateRequestSchema,
      example: { devices: [{ id: "7d0f6a4e-3c1b-4f0a-9a51-3d2c8e7b6f10", state: "accepted" }] },
      bytes: largeBody,
    },
    success: { description: "Result for each device.", schema: stateAnswerSchema },
    problems: ["not-found", "conflict", "limit-reached"],
  },
  assignDevice: {
    summary: "Assign a device to a user",
    access: { scope: "devices:write" },
    audit: ["device.assigned"],
    body: {
      schema: assignRequestSchema,
      example: {
        device_id: "7d0f6a4e-3c1b-4f0a-9a51-3d2c8e7b6f10",
        user_id: "2f1c9d5e-8a7b-4c3d-b2e1-0f9e8d7c6b5a",
      },
    },
    success: { description: "The device.", schema: deviceSchema },
    problems: idsOnly,
  },
  listAuthDecisions: {
    summary: "List decisions about serial numbers",
    access: { scope: "devices:read" },
    success: { description: "Decisions.", schema: decisionsSchema },
  },
  setAuthDecisions: {
    summary: "Decide on serial numbers before their devices call",
    description:
      "An acceptance is used up by the first device that has the serial number. A list skips rejected serial numbers, unless include_rejected is true.",
    access: { scope: "devices:state" },
    audit: ["serial.decided"],
    body: {
      schema: decisionsRequestSchema,
      example: { auth_decisions: [{ serial: "5CG2140XYZ", enforce_state: "accepted" }] },
      bytes: largeBody,
    },
    success: { description: "The decisions on these serial numbers.", schema: decisionsAnswerSchema },
    problems: ["not-found", "conflict"],
  },
  makeNonce: {
    summary: "Start an enrolment",
    access: "anyone",
    rate: "enrol",
    success: { description: "Nonce that the proof must cover.", schema: nonceSchema },
  },
  enrollDevice: {
    summary: "Enroll a device, or get its state",
    description:
      'The proof is the Ed25519 signature over the JSON array ["relcat-enroll-1", nonce, public_key, name, serial, device_type, device_os, version], compact, with null for missing values.',
    access: "anyone",
    rate: "enrol",
    audit: ["device.enrolled", "device.token", "enrolment.full"],
    body: {
      schema: enrollRequestSchema,
      example: {
        public_key: `${"A".repeat(43)}=`,
        name: "berlin-laptop-007",
        serial: "5CG2140XYZ",
        nonce: "from GET device/enroll",
        proof: `${"A".repeat(86)}==`,
      },
    },
    success: {
      status: 201,
      also: 200,
      description: "State of the device; 200 if it was known.",
      schema: enrollAnswerSchema,
    },
    problems: ["forbidden", "enrolment-full"],
  },
  readDevice: {
    summary: "Read a device",
    access: { scope: "devices:read" },
    withDevice: true,
    success: { description: "The device.", schema: deviceSchema },
    problems: idsOnly,
  },
  changeDevice: {
    summary: "Rename a device",
    access: { scope: "devices:write" },
    audit: ["device.renamed"],
    body: { schema: deviceChangeSchema, example: { name: "berlin-laptop-007" } },
    success: { description: "The device.", schema: deviceSchema },
    problems: idsOnly,
  },
  deleteDevice: {
    summary: "Delete a rejected device",
    description: "Its serial number stays rejected.",
    access: { scope: "devices:write" },
    audit: ["device.deleted"],
    success: { status: 204, description: "Deleted." },
    problems: ["not-found", "conflict"],
  },
} satisfies OperationContracts;
