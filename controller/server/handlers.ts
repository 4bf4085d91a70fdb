import { listAudit } from "./audit/list-audit.ts";
import type { Handler } from "./call.ts";
import { listAuthDecisions, setAuthDecisions } from "./devices/auth-decisions.ts";
import { enrollDevice, makeNonce } from "./devices/enroll.ts";
import { listDevices } from "./devices/list-devices.ts";
import { assignDevice, changeDevice, deleteDevice, readDevice } from "./devices/one-device.ts";
import { setDeviceStates } from "./devices/set-states.ts";
import { streamEvents } from "./events/stream-events.ts";
import {
  changeApiKey,
  createApiKey,
  createToken,
  listApiKeys,
  listTokens,
  readOwnApiKey,
  revokeApiKey,
  revokeToken,
  rotateApiKey,
  rotateOwnApiKey,
} from "./keys/api-keys.ts";
import type { ControllerOperation } from "./routes.ts";
import { changeMe, login, logout, readMe } from "./users/sessions.ts";
import { deleteUser, listUsers, readUser, upsertUser } from "./users/users.ts";

export const handlers: Record<ControllerOperation, Handler> = {
  health: () => ({ status: 200, body: { status: "ok" } }),
  listDevices,
  setDeviceStates,
  assignDevice,
  listAuthDecisions,
  setAuthDecisions,
  makeNonce,
  enrollDevice,
  readDevice,
  changeDevice,
  deleteDevice,
  listApiKeys,
  createApiKey,
  readOwnApiKey,
  rotateOwnApiKey,
  changeApiKey,
  revokeApiKey,
  rotateApiKey,
  login,
  logout,
  readMe,
  changeMe,
  listTokens,
  createToken,
  revokeToken,
  listUsers,
  readUser,
  deleteUser,
  upsertUser,
  listAudit,
  streamEvents,
  readOpenApi: async () => (await import("./documentation.ts")).readOpenApi(),
  readDocs: async () => (await import("./documentation.ts")).readDocs(),
};
