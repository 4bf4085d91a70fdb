import type { Method, Route } from "../../service/http/router.ts";

export const apiPath = "/-net/api/v0";

const route = <Operation extends string>(
  path: string,
  name: string,
  description: string,
  operations: Route<Operation>["operations"],
): Route<Operation> => ({ path, name, description, operations });

/** Routes below `/-net/api/v0`. Literal paths come before paths with an id. */
const routes = [
  route("/ok/", "Health", "Says whether the server answers.", { GET: "health" }),
  route("/device/", "Devices", "All devices, in order of creation.", { GET: "listDevices" }),
  route("/device/state/", "Device States", "Accepts and rejects devices.", { POST: "setDeviceStates" }),
  route("/device/assign/", "Device Assignment", "Assigns a device to a user.", { POST: "assignDevice" }),
  route("/device/auth_decisions/", "Auth Decisions", "Decision for the first contact with a serial number.", {
    GET: "listAuthDecisions",
    POST: "setAuthDecisions",
  }),
  route("/device/enroll/", "Enrolment", "First contact of a device.", {
    GET: "makeNonce",
    POST: "enrollDevice",
  }),
  route("/device/:id/", "Device", "One device.", {
    GET: "readDevice",
    POST: "changeDevice",
    DELETE: "deleteDevice",
  }),
  route("/api_keys/", "API Keys", "Keys of programs.", { GET: "listApiKeys", POST: "createApiKey" }),
  route("/api_keys/me/", "Own Key", "The key of this request.", { GET: "readOwnApiKey" }),
  route("/api_keys/me/rotate/", "Own Key's Rotation", "A new secret for the key of this request.", {
    POST: "rotateOwnApiKey",
  }),
  route("/api_keys/:id/", "API Key", "One key of a program.", {
    POST: "changeApiKey",
    DELETE: "revokeApiKey",
  }),
  route("/api_keys/:id/rotate/", "API Key's Rotation", "A new secret for a key.", { POST: "rotateApiKey" }),
  route("/user/login/", "Login", "Opens a session.", { POST: "login" }),
  route("/user/logout/", "Logout", "Ends a session.", { POST: "logout" }),
  route("/user/me/", "Own User", "The signed-in user.", { GET: "readMe", POST: "changeMe" }),
  route("/user/tokens/", "Own Tokens", "Tokens of the signed-in user, for /latest/.", {
    GET: "listTokens",
    POST: "createToken",
  }),
  route("/user/tokens/:id/", "Own Token", "One token of the signed-in user.", { DELETE: "revokeToken" }),
  route("/user/upsert/", "User Changes", "Makes or changes a user.", { POST: "upsertUser" }),
  route("/user/:id/", "User", "One user.", { GET: "readUser", DELETE: "deleteUser" }),
  route("/users/", "Users", "All users.", { GET: "listUsers" }),
  route("/audit_log/", "Audit Log", "Changes and their authors.", { GET: "listAudit" }),
  route("/events/", "Events", "Device events as they happen.", { GET: "streamEvents" }),
  route("/openapi.json/", "Description", "This API as OpenAPI 3.1.", { GET: "readOpenApi" }),
  route("/docs/", "Documentation", "This API for people.", { GET: "readDocs" }),
];

export type ControllerOperation = NonNullable<(typeof routes)[number]["operations"][Method]>;
export const controllerRoutes: readonly Route<ControllerOperation>[] = routes;

export const addresses = new Map(
  controllerRoutes.flatMap(({ path, operations }) =>
    Object.entries(operations).map(([method, operation]) => [operation, { method, path }] as const),
  ),
);
