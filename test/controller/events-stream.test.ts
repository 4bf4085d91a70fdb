import { sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import { decide } from "./enroll-support.ts";
import { follow, type ReceivedEvent } from "./events-support.ts";
import { allScopes, breakDatabase, each, insertDevices, setStates } from "./state-support.ts";
import { type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
beforeEach(async () => {
  controller = await testController();
  key = await controller.makeKey(allScopes);
});

const streamed = (from: { after?: number; last?: number } = {}, to = controller) =>
  follow(to.api, key.headers, from);
const targets = (events: ReceivedEvent[]) => events.map(({ data }) => data.target.id);

describe("an event stream", () => {
  test("ends when the server stops, which does not wait for it", { tags: ["long"] }, async () => {
    const { close, api } = await testController({
      database: controller.database,
      serve: { timeouts: { close: 600_000 } },
    });
    const stream = await follow(api, key.headers);
    await Promise.all([close(), stream.ended()]);
  });

  test("reports changes of devices in order, and no changes of keys or tokens", async () => {
    const stream = await streamed();
    const { id, pair } = await controller.enroll({ name: "laptop", serial: "SN-1" });
    await setStates(controller, key, [{ id, state: "accepted", reason: "known" }]);
    await controller.enroll({}, pair);
    await controller.makeKey();
    await decide(controller, key, { "SN-2": "accepted" });
    await controller.call("POST", `/device/${id}`, { ...key, body: { name: "other" } });
    await controller.call("POST", "/device/assign", { ...key, body: { device_id: id } });
    await setStates(controller, key, each([id], "rejected"));
    await controller.call("DELETE", `/device/${id}`, key);
    const events = await stream.next(5);
    expect(events.map(({ event }) => event)).toEqual([
      "device.enrolled",
      "device.state",
      "device.renamed",
      "device.state",
      "device.deleted",
    ]);
    expect(events[1]).toEqual({
      id: expect.any(Number),
      event: "device.state",
      data: {
        seq: events[1]?.id,
        at: new Date(controller.now()).toISOString(),
        actor: { kind: "key", id: key.id, name: null },
        code: "device.state",
        target: { kind: "device", id },
        before: { state: "pending" },
        after: { state: "accepted", reason: "known" },
      },
    });
    stream.close();
  });

  test("has no secret, no address and no hash", async () => {
    const { id, pair } = await controller.enroll({ name: "laptop" });
    await setStates(controller, key, each([id], "accepted"));
    const { token } = (await controller.enroll({}, pair)).json;
    const stream = await streamed({ after: 0 });
    await stream.next(2);
    const secrets = [token, key.key, "127.0.0.1", "hash", "digest", "request_id", pair.publicKey];
    expect(secrets.filter((secret) => stream.text().includes(secret))).toEqual([]);
  });

  test("begins now, or after the named event; the header overrides the address", async () => {
    const [one = "", two = "", three = ""] = await insertDevices(controller, 3);
    await setStates(controller, key, each([one, two], "accepted"));
    const now = await streamed();
    const [first, second] = await (await streamed({ after: 0 })).next(2);
    expect(targets([first as ReceivedEvent, second as ReceivedEvent])).toEqual([one, two]);
    await setStates(controller, key, each([three], "accepted"));
    expect(targets(await now.next(1))).toEqual([three]);
    expect(targets(await (await streamed({ after: first?.id ?? 0 })).next(2))).toEqual([two, three]);
    expect(targets(await (await streamed({ after: 0, last: second?.id ?? 0 })).next(1))).toEqual([three]);
  });

  test.each([["?after=-1"], ["?after=abc"], ["?since=1"], ["?after=1&after=2"]])(
    "%s is refused",
    async (query) => {
      expect((await controller.call("GET", `/events${query}`, key)).status).toBe(400);
    },
  );

  test("does not begin after an unknown id", async () => {
    const headers = { ...key.headers, "last-event-id": "1; drop table audit_log" };
    expect((await controller.call("GET", "/events", { headers })).status).toBe(400);
  });

  test("has no event of a rolled-back transaction", async () => {
    const [one = "", two = ""] = await insertDevices(controller, 2);
    const stream = await streamed();
    const mend = await breakDatabase(controller, {
      event: "insert",
      table: "audit_log",
      when: `new.target_id = '${one}'`,
    });
    expect((await setStates(controller, key, each([two, one], "accepted"))).status).toBe(500);
    await mend();
    await setStates(controller, key, each([one], "rejected"));
    expect(targets(await stream.next(1))).toEqual([one]);
  });
});

describe("a reader that reconnects", () => {
  test("gets every event once during writes of two servers", async () => {
    const other = await testController({ database: controller.database });
    const ids = await insertDevices(controller, 450);
    const writing = (async () => {
      for (let from = 0; from < ids.length; from += 15)
        await setStates(from % 2 ? controller : other, key, each(ids.slice(from, from + 15), "accepted"));
    })();
    const received: ReceivedEvent[] = [];
    for (let turn = 0; received.length < ids.length; turn++) {
      const stream = await streamed({ last: received.at(-1)?.id ?? 0 }, turn % 2 ? other : controller);
      received.push(...(await stream.next(Math.min(40, ids.length - received.length))));
      stream.close();
    }
    await writing;
    expect(targets(received)).toEqual(ids);
    const numbers = received.map(({ id }) => id);
    expect(numbers).toEqual(numbers.toSorted((one, two) => one - two));
  });

  test("gets a complete long backlog", async () => {
    const ids = await insertDevices(controller, 1000);
    await setStates(controller, key, each(ids, "accepted"));
    expect(targets(await (await streamed({ after: 0 })).next(1000))).toEqual(ids);
  });
});

describe("streams", () => {
  test("report writes of another server", async () => {
    const other = await testController({ database: controller.database });
    const ids = await insertDevices(controller, 2);
    const streams = [await streamed(), await streamed({}, other)];
    await setStates(controller, key, each(ids.slice(0, 1), "accepted"));
    await setStates(other, key, each(ids.slice(1), "accepted"));
    for (const stream of streams) expect(targets(await stream.next(2))).toEqual(ids);
  });

  test("make room for others if the database fails", async () => {
    const streams = await Promise.all(Array.from({ length: 10 }, () => streamed()));
    const { database } = controller.controller;
    const rename = (from: string, to: string) =>
      database.write(async (run) => void (await sql.raw(`alter table ${from} rename to ${to}`).execute(run)));
    await rename("audit_log", "elsewhere");
    await Promise.all(streams.map((stream) => stream.ended().catch(() => {})));
    await rename("elsewhere", "audit_log");
    expect((await streamed()).status).toBe(200);
  });

  test("are limited to ten per key; the end of one makes room", async () => {
    const streams = await Promise.all(Array.from({ length: 10 }, () => streamed()));
    const refused = await controller.call("GET", "/events", key);
    expect([refused.status, refused.json.type]).toEqual([503, "urn:relcat:problem:busy"]);
    expect(refused.json.detail).toContain("10 streams of one key or user, and 500 in all, are open");
    expect(refused.headers.get("retry-after")).toBe("10");
    const another = await controller.makeKey(["devices:read"]);
    expect((await follow(controller.api, another.headers)).status).toBe(200);
    streams[0]?.close();
    await expect.poll(async () => (await streamed()).status).toBe(200);
  });

  test("are not opened by a HEAD request", async () => {
    for (let turn = 0; turn < 12; turn++) {
      const { status, text } = await controller.call("HEAD", "/events", key);
      expect([status, text]).toEqual([200, ""]);
    }
  });

  test("end when their key is revoked, also through another server", async () => {
    const other = await testController({ database: controller.database });
    const stream = await streamed();
    const owner = await other.makeUser("Owner");
    expect((await other.call("DELETE", `/api_keys/${key.id}`, owner)).status).toBe(204);
    await stream.ended();
    expect((await controller.call("GET", "/events", key)).status).toBe(401);
  });

  test("end after their key expires, at the next event", async () => {
    const stream = await streamed();
    controller.setTime(controller.now() + 91 * 24 * 3_600_000);
    await controller.enroll();
    await stream.ended();
    expect(stream.text()).not.toContain("device.enrolled");
  });
});
