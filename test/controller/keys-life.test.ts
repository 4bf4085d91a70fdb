import { beforeEach, describe, expect, test } from "vitest";
import { settings } from "../../controller/server/controller.ts";
import { basic, start, type TestController, type TestUser, testController } from "./support.ts";

const hour = 3_600_000;
const day = 24 * hour;
const moment = (milliseconds: number) => new Date(milliseconds).toISOString();

let controller: TestController;
let owner: TestUser;
beforeEach(async () => {
  controller = await testController();
  owner = await controller.makeUser("Owner");
});

const make = (body?: unknown) => controller.call("POST", "/api_keys", { headers: owner.headers, body });
const statusOf = async (headers: Record<string, string>) =>
  (await controller.call("GET", "/device", { headers })).status;

describe("the end of a key", () => {
  test("is after 90 days by default and 365 at most, and never only if that is allowed", async () => {
    expect((await make()).json.expires_at).toBe(moment(start + 90 * day));
    expect((await make({})).json.expires_at).toBe(moment(start + 90 * day));
    expect((await make({ expires_in_days: null })).json.expires_at).toBe(moment(start + 90 * day));
    expect((await make({ expires_in_days: 365 })).json.expires_at).toBe(moment(start + 365 * day));
    for (const days of [366, 3650, 3651, 0, -1, 1.5, "90", "never", Number.MAX_SAFE_INTEGER]) {
      const { status, json } = await make({ expires_in_days: days });
      expect([days, status, json.errors[0].pointer]).toEqual([days, 400, "/expires_in_days"]);
    }
  });

  test("can be never if the settings allow it", async () => {
    const open = await testController({ settings: { keyLife: { ...settings.keyLife, never: true } } });
    const { headers } = await open.makeUser("Owner");
    const { status, json } = await open.call("POST", "/api_keys", {
      headers,
      body: { expires_in_days: "never" },
    });
    expect([status, json.expires_at]).toEqual([201, null]);
    open.setTime(start + 4000 * day);
    const answer = await open.call("GET", "/device", { headers: basic(json.id, json.key) });
    expect([answer.status, answer.headers.get("x-key-expires")]).toEqual([200, null]);
  });

  test("is exact, and a header announces it for two weeks", async () => {
    const key = await controller.makeKey(undefined, 30);
    const ends = start + 30 * day;
    const warned = async () => {
      const { status, headers } = await controller.call("GET", "/device", { headers: key.headers });
      return [status, headers.get("x-key-expires")];
    };
    expect(await warned()).toEqual([200, null]);
    controller.setTime(ends - 14 * day);
    expect(await warned()).toEqual([200, null]);
    controller.setTime(ends - 14 * day + 1);
    expect(await warned()).toEqual([200, moment(ends)]);
    controller.setTime(ends - 1);
    expect(await warned()).toEqual([200, moment(ends)]);
    controller.setTime(ends);
    expect(await warned()).toEqual([401, null]);
  });
});

describe("a rotated secret", () => {
  const rotate = (headers: Record<string, string>, body?: unknown) =>
    controller.call("POST", "/api_keys/me/rotate", { headers, body });

  test("works together with the old one for a day, then alone", async () => {
    const old = await controller.makeKey();
    const { status, json } = await rotate(old.headers);
    expect([status, json.id, json.previous_until]).toEqual([200, old.id, moment(start + day)]);
    expect(json.key).not.toBe(old.key);
    const fresh = basic(json.id, json.key);
    controller.setTime(start + day - 1);
    expect([await statusOf(old.headers), await statusOf(fresh)]).toEqual([200, 200]);
    controller.setTime(start + day);
    expect([await statusOf(old.headers), await statusOf(fresh)]).toEqual([401, 200]);
  });

  test("replaces the old one at once with overlap_hours 0", async () => {
    const old = await controller.makeKey();
    const { json } = await rotate(old.headers, { overlap_hours: 0 });
    expect([await statusOf(old.headers), await statusOf(basic(json.id, json.key))]).toEqual([401, 200]);
  });

  test("cannot be made with a secret that was replaced already, in turn or concurrently", async () => {
    const old = await controller.makeKey();
    const answers = await Promise.all([rotate(old.headers), rotate(old.headers)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
    const refused = await rotate(old.headers);
    expect([refused.status, refused.json.detail]).toEqual([
      403,
      "This secret was replaced: rotate the key with its current secret.",
    ]);
    const current = answers.find(({ status }) => status === 200)?.json;
    expect([await statusOf(old.headers), await statusOf(basic(current.id, current.key))]).toEqual([200, 200]);
  });

  test("keeps the secret before it alive, and none before that", async () => {
    const first = await controller.makeKey();
    const second = (await rotate(first.headers)).json;
    const third = (await rotate(basic(second.id, second.key))).json;
    const statuses = [first.headers, basic(second.id, second.key), basic(third.id, third.key)];
    expect(await Promise.all(statuses.map(statusOf))).toEqual([401, 200, 200]);
  });

  test("lasts as long as the first, after any number of rotations", async () => {
    let { headers } = await controller.makeKey(undefined, 10);
    for (let exchanged = 1; exchanged <= 4; exchanged++) {
      controller.setTime(start + exchanged * 9 * day);
      const { json } = await rotate(headers);
      expect(json.expires_at).toBe(moment(start + exchanged * 9 * day + 10 * day));
      headers = basic(json.id, json.key);
    }
  });

  test("ends with its key", async () => {
    const old = await controller.makeKey();
    const { json } = await rotate(old.headers);
    await controller.call("DELETE", `/api_keys/${old.id}`, { headers: owner.headers });
    expect([await statusOf(old.headers), await statusOf(basic(json.id, json.key))]).toEqual([401, 401]);
  });

  test.each([-1, 721, "24", null])("cannot have an overlap of %s", async (overlap_hours) => {
    const { headers } = await controller.makeKey();
    expect((await rotate(headers, { overlap_hours })).status).toBe(400);
  });
});

test("the last use of a key is stored once a minute at most", async () => {
  const key = await controller.makeKey(["devices:read"]);
  const lastUse = async () => {
    const { json } = await controller.call("GET", "/api_keys", { headers: owner.headers });
    return json.api_keys.find(({ id }: { id: string }) => id === key.id).last_used_at;
  };
  expect(await lastUse()).toBeNull();
  await statusOf(key.headers);
  expect(await lastUse()).toBe(moment(start));
  controller.setTime(start + 59_999);
  await statusOf(key.headers);
  expect(await lastUse()).toBe(moment(start));
  controller.setTime(start + 60_000);
  await statusOf(key.headers);
  expect(await lastUse()).toBe(moment(start + 60_000));
});

test("keys remain valid if the settings change the prefix", async () => {
  const key = await controller.makeKey();
  await controller.close();
  const prefixes = { key: "acme_", token: "acme-user_", device: "acme-device_" };
  const renamed = await testController({ database: controller.database, settings: { prefixes } });
  expect((await renamed.call("GET", "/device", { headers: key.headers })).status).toBe(200);
  const fresh = await renamed.makeKey();
  expect(fresh.key).toMatch(/^acme_[0-9a-f]{8}-[0-9a-f]{4}-4/);
  expect((await renamed.call("GET", "/device", { headers: fresh.headers })).status).toBe(200);
});
