import type { Scope } from "../../controller/server/access.ts";
import type { ControllerOperation } from "../../controller/server/routes.ts";

/** Signed-in users: a role, or a single right of a Limited Administrator. */
export const people = [
  "Owner",
  "FullAdministrator",
  "authz_devices",
  "authz_policies",
  "authz_control_panel",
  "authz_users",
  "User",
] as const;
export type Person = (typeof people)[number];

/** The callers allowed to do an operation, and an example request with its answer. */
export interface Row {
  ask: [method: "GET" | "POST" | "DELETE", path: string, body?: unknown];
  status: number;
  /** Required scope of an API key. */
  key: Scope | "any key" | "no key";
  people: readonly Person[];
  /** The users whose tokens are allowed below /latest: some, all or none. */
  token: "of these" | "all" | "none";
}

type Open = Pick<Row, "ask" | "status"> & { anyone: true };

const admins = ["Owner", "FullAdministrator"] as const;
const ofDevices = [...admins, "authz_devices"] as const;
const ofControl = [...admins, "authz_control_panel"] as const;
const ofUsers = [...admins, "authz_users"] as const;
const nobody = "00000000-0000-4000-8000-000000000000";
const states = { devices: [{ id: nobody, state: "accepted" }] };
const decisions = {
  auth_decisions: [{ serial: "SN-7071", enforce_state: "accepted", device_id: nobody }],
};

/** Missing or invalid objects are reported only to callers that are allowed to do the operation. */
export const table: Record<ControllerOperation, Row | Open> = {
  health: { ask: ["GET", "/ok"], status: 200, anyone: true },
  makeNonce: { ask: ["GET", "/device/enroll"], status: 200, anyone: true },
  enrollDevice: { ask: ["POST", "/device/enroll", {}], status: 400, anyone: true },
  login: { ask: ["POST", "/user/login", {}], status: 400, anyone: true },
  readOpenApi: { ask: ["GET", "/openapi.json"], status: 200, anyone: true },
  readDocs: { ask: ["GET", "/docs"], status: 200, anyone: true },

  ...rows("devices:read", ofDevices, "of these", {
    listDevices: { ask: ["GET", "/device"], status: 200 },
    readDevice: { ask: ["GET", `/device/${nobody}`], status: 404 },
    listAuthDecisions: { ask: ["GET", "/device/auth_decisions"], status: 200 },
    streamEvents: { ask: ["GET", "/events"], status: 200 },
  }),
  ...rows("devices:state", ofDevices, "of these", {
    setDeviceStates: { ask: ["POST", "/device/state", states], status: 404 },
    setAuthDecisions: { ask: ["POST", "/device/auth_decisions", decisions], status: 404 },
  }),
  ...rows("devices:write", ofDevices, "of these", {
    assignDevice: { ask: ["POST", "/device/assign", { device_id: nobody }], status: 404 },
    changeDevice: { ask: ["POST", `/device/${nobody}`, { name: "new" }], status: 404 },
    deleteDevice: { ask: ["DELETE", `/device/${nobody}`], status: 404 },
  }),

  ...rows("api_keys:read", ofControl, "of these", {
    listApiKeys: { ask: ["GET", "/api_keys"], status: 200 },
  }),
  ...rows("api_keys:write", admins, "of these", {
    revokeApiKey: { ask: ["DELETE", `/api_keys/${nobody}`], status: 404 },
  }),
  ...rows("no key", admins, "of these", {
    createApiKey: { ask: ["POST", "/api_keys", { scopes: [] }], status: 201 },
    changeApiKey: { ask: ["POST", `/api_keys/${nobody}`, { name: "new" }], status: 404 },
    rotateApiKey: { ask: ["POST", `/api_keys/${nobody}/rotate`], status: 404 },
  }),
  ...rows("any key", [], "all", {
    readOwnApiKey: { ask: ["GET", "/api_keys/me"], status: 200 },
    rotateOwnApiKey: { ask: ["POST", "/api_keys/me/rotate", { overlap_hours: -1 }], status: 400 },
  }),

  ...rows("no key", people, "all", {
    readMe: { ask: ["GET", "/user/me"], status: 200 },
    listTokens: { ask: ["GET", "/user/tokens"], status: 200 },
    revokeToken: { ask: ["DELETE", `/user/tokens/${nobody}`], status: 404 },
  }),
  ...rows("no key", people, "none", {
    changeMe: { ask: ["POST", "/user/me", {}], status: 200 },
    createToken: { ask: ["POST", "/user/tokens", { scopes: [] }], status: 201 },
    logout: { ask: ["POST", "/user/logout?unknown=1"], status: 400 },
  }),
  ...rows("users:read", ofUsers, "of these", {
    listUsers: { ask: ["GET", "/users"], status: 200 },
    readUser: { ask: ["GET", `/user/${nobody}`], status: 404 },
  }),
  ...rows("no key", ofUsers, "none", {
    upsertUser: { ask: ["POST", "/user/upsert", {}], status: 400 },
    deleteUser: { ask: ["DELETE", `/user/${nobody}`], status: 404 },
  }),
  ...rows("audit:read", ofControl, "of these", {
    listAudit: { ask: ["GET", "/audit_log"], status: 200 },
  }),
};

function rows<Operation extends ControllerOperation>(
  key: Row["key"],
  allowed: Row["people"],
  token: Row["token"],
  requests: Record<Operation, Pick<Row, "ask" | "status">>,
): Record<Operation, Row> {
  const entries = Object.entries<Pick<Row, "ask" | "status">>(requests);
  return Object.fromEntries(
    entries.map(([operation, row]) => [operation, { ...row, key, people: allowed, token }]),
  ) as Record<Operation, Row>;
}
