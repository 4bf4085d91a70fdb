import { beforeAll, describe, expect, test } from "vitest";
import { controllerRoutes } from "../../controller/server/routes.ts";
import { asker } from "./contract-ask.ts";
import { type ApiDocument, readDocument } from "./contract-document.ts";
import { basic, enrollBody, newPair, password, type TestController, testController } from "./support.ts";

let controller: TestController;
let document: ApiDocument;
beforeAll(async () => {
  controller = await testController();
  document = await readDocument(asker(controller.controller));
});

describe("the description and the router", () => {
  const unknown = "00000000-0000-4000-8000-000000000000";

  test("have the same addresses, with the same methods", async () => {
    const described = new Map<string, string[]>();
    for (const { path, method } of document.operations)
      described.set(path, [...(described.get(path) ?? []), method]);
    const routed = controllerRoutes.map(({ path }) => path.replace(/:(\w+)/g, "{$1}"));
    expect([...described.keys()].toSorted()).toEqual(routed.toSorted());
    for (const [path, methods] of described) {
      const { status, headers } = await controller.call("OPTIONS", path.replace("{id}", unknown));
      const allowed = (headers.get("allow") ?? "").split(", ");
      expect([path, status]).toEqual([path, 200]);
      expect(allowed.filter((name) => name !== "HEAD" && name !== "OPTIONS").toSorted()).toEqual(
        methods.toSorted(),
      );
    }
  });

  test("let a client join the host and a path to reach every operation", async () => {
    const response = await fetch(`${controller.api}/openapi.json`);
    const { servers, paths } = (await response.json()) as { servers: unknown; paths: Record<string, object> };
    expect(servers).toEqual([{ url: "/" }]);
    for (const [path, entry] of Object.entries(paths)) {
      for (const method of Object.keys(entry).map((name) => name.toUpperCase())) {
        const answer = await fetch(controller.url + path.replace("{id}", unknown), { method });
        await answer.body?.cancel();
        expect([method, path, [404, 405].includes(answer.status)]).toEqual([method, path, false]);
      }
    }
  });

  test("answer 404 at an address without a description", async () => {
    const { status, json } = await controller.call("GET", "/devices");
    expect([status, json.detail]).toEqual([404, "There is nothing at this address."]);
  });

  test("name each operation once, with problems as application/problem+json", () => {
    const names = document.operations.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const { operationId, responses } of document.operations) {
      const { 500: failed, 429: often } = responses;
      for (const response of [failed, often])
        expect([operationId, Object.keys(response?.content ?? {})]).toEqual([
          operationId,
          ["application/problem+json"],
        ]);
    }
  });
});

/** Requested operations and their answers. */
const answered = new Map<string, Set<number>>();
/** Requests one answer of every kind, in turn. */
async function ask(
  operationId: string,
  status: number,
  fill: { id?: string; query?: string; headers?: Record<string, string>; body?: unknown } = {},
) {
  const operation = document.operations.find((each) => each.operationId === operationId);
  if (!operation) throw new Error(`${operationId} is not described`);
  const path = operation.path.replace("{id}", fill.id ?? "").replace(/\/$/, "");
  const { controller: inner } = controller;
  const answer = await asker(inner, "/latest")(operation.method, path + (fill.query ?? ""), {
    headers: { "content-type": "application/json", ...fill.headers },
    body: fill.body === undefined ? undefined : JSON.stringify(fill.body),
  });
  expect([operationId, answer.status, answer.text]).toEqual([operationId, status, expect.any(String)]);
  expect([operationId, status, document.wrongWith(operation, answer)]).toEqual([
    operationId,
    status,
    undefined,
  ]);
  answered.set(operationId, (answered.get(operationId) ?? new Set()).add(status));
  return answer.type.endsWith("json") && answer.text !== "" ? JSON.parse(answer.text) : undefined;
}

test("describe every answer of a controller", async () => {
  const owner = await controller.makeUser("Owner");
  const session = { headers: { cookie: owner.headers.cookie ?? "" } };
  const nobody = { id: "00000000-0000-4000-8000-000000000000" };
  await ask("health", 200);
  await ask("readOpenApi", 200);
  await ask("readDocs", 200);

  const pair = newPair();
  const enroll = async (status: number) => {
    const { nonce } = await ask("makeNonce", 200);
    return ask("enrollDevice", status, { body: enrollBody(nonce, { serial: "SN-1" }, pair) });
  };
  const { id } = await enroll(201);
  await enroll(200);
  await ask("enrollDevice", 403, { body: enrollBody("a.b.c", {}, pair) });
  await ask("listDevices", 200, session);
  await ask("listDevices", 200, { ...session, query: "?limit=1&state=pending&q=SN" });
  await ask("listDevices", 400, { ...session, query: "?limit=0" });
  await ask("listDevices", 401);
  await ask("readDevice", 200, { ...session, id });
  await ask("readDevice", 404, { ...session, ...nobody });
  await ask("changeDevice", 200, { ...session, id, body: { name: "new" } });
  const state = (value: string, device = id) => ({ devices: [{ id: device, state: value }] });
  await ask("setDeviceStates", 200, { ...session, body: state("accepted") });
  await ask("setDeviceStates", 200, { ...session, body: { ...state("rejected"), dry_run: true } });
  await ask("setDeviceStates", 404, { ...session, body: state("accepted", nobody.id) });
  const stale = { devices: [{ id, state: "pending", if_version: 0 }] };
  await ask("setDeviceStates", 409, { ...session, body: stale });
  const lenient = { headers: { ...session.headers, prefer: "handling=lenient" }, body: stale };
  await ask("setDeviceStates", 200, lenient);
  await ask("assignDevice", 200, { ...session, body: { device_id: id, user_id: owner.id } });
  await enroll(200);
  await ask("deleteDevice", 409, { ...session, id });
  await ask("setDeviceStates", 200, { ...session, body: state("rejected") });
  await ask("setAuthDecisions", 200, {
    ...session,
    body: { auth_decisions: [{ serial: "SN-2222", enforce_state: "accepted" }] },
  });
  await ask("setAuthDecisions", 409, {
    ...session,
    body: { auth_decisions: [{ serial: "SN-1", enforce_state: "accepted" }] },
  });
  await ask("listAuthDecisions", 200, session);
  await ask("deleteDevice", 204, { ...session, id });

  const key = await ask("createApiKey", 201, session);
  await ask("createApiKey", 201, { ...session, body: { name: "ci", scopes: ["audit:read"] } });
  await ask("createApiKey", 400, { ...session, body: { expires_in_days: 9999 } });
  await ask("createApiKey", 415, { headers: { ...session.headers, "content-type": "a/b" }, body: {} });
  const asKey = { headers: basic(key.id, key.key) };
  await ask("createApiKey", 403, asKey);
  await ask("readOwnApiKey", 200, asKey);
  await ask("rotateOwnApiKey", 200, asKey);
  await ask("listApiKeys", 200, session);
  await ask("changeApiKey", 200, { ...session, id: key.id, body: { name: "old" } });
  await ask("rotateApiKey", 200, { ...session, id: key.id });
  await ask("revokeApiKey", 204, { ...session, id: key.id });
  await ask("rotateApiKey", 409, { ...session, id: key.id });
  const token = await ask("createToken", 201, { ...session, body: { scopes: ["users:*"] } });
  await ask("listUsers", 200, { headers: basic(token.id, token.key) });
  await ask("listTokens", 200, session);
  await ask("revokeToken", 204, { ...session, id: token.id });

  await ask("login", 200, { body: { email: owner.email, password } });
  await ask("login", 401, { body: { email: owner.email, password: "wrong password" } });
  await ask("readMe", 200, session);
  await ask("changeMe", 200, { ...session, body: { name: "Ada" } });
  const made = await ask("upsertUser", 201, { ...session, body: { email: "grace@example.com" } });
  const other = { ...session, id: made.id };
  await ask("upsertUser", 200, { ...session, body: { id: other.id, status: "Disabled" } });
  await ask("upsertUser", 409, { ...session, body: { email: "GRACE@example.com" } });
  await ask("readUser", 200, other);
  await ask("deleteUser", 204, other);
  await ask("deleteUser", 404, other);
  await ask("listAudit", 200, { ...session, query: "?limit=1000" });
  await ask("streamEvents", 200, { ...session, query: "?after=0" });
  await ask("logout", 204, session);
  await ask("logout", 401, session);

  const missing = document.operations.flatMap(({ operationId, responses }) =>
    Object.keys(responses)
      .filter((status) => status.startsWith("2") && !answered.get(operationId)?.has(Number(status)))
      .map((status) => `${operationId} ${status}`),
  );
  expect(missing).toEqual([]);
});
