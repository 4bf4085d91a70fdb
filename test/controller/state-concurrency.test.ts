/** @module-tag long */
import { beforeAll, describe, expect, test } from "vitest";
import { allScopes, each, insertDevices, setStates, statesOf } from "./state-support.ts";
import { type TestController, type TestKey, testController } from "./support.ts";

const rounds = 20;
const fleet = 200;

describe.each(["one server", "two servers on one database"])(
  "two opposite concurrent bulks, over %s",
  (servers) => {
    let first: TestController;
    let second: TestController;
    let key: TestKey;
    let ids: string[];
    beforeAll(async () => {
      first = await testController();
      second = servers === "one server" ? first : await testController({ database: first.database });
      key = await first.makeKey(allScopes);
      ids = await insertDevices(first, fleet, (index) => ({ serial: `SN-${index}` }));
    });

    test(`end in one of the two orders, ${rounds} times`, async () => {
      for (let round = 0; round < rounds; round++) {
        await setStates(first, key, each(ids, "pending"));
        const [accepting, rejecting] = await Promise.all([
          setStates(first, key, each(ids, "accepted")),
          setStates(second, key, each(ids.toReversed(), "rejected")),
        ]);
        expect([accepting.status, rejecting.status]).toEqual([200, 200]);
        const [earlier, later] =
          accepting.json.devices[0].previous_state === "pending"
            ? [accepting, rejecting]
            : [rejecting, accepting];
        const last = later.json.devices[0].state;
        expect(previousOf(earlier)).toEqual(new Set(["pending"]));
        expect(previousOf(later)).toEqual(new Set([earlier.json.devices[0].state]));
        expect(new Set(await statesOf(second, key))).toEqual(new Set([last]));
      }
      const { json } = await first.call("GET", "/device", key);
      const versions = Object.values(json.devices as Record<string, { version: number }>);
      expect(new Set(versions.map(({ version }) => version))).toEqual(new Set([rounds * 3]));
    });

    const previousOf = ({ json }: { json: { devices: { previous_state: string }[] } }) =>
      new Set(json.devices.map(({ previous_state }) => previous_state));
  },
);

describe("concurrent requests at a limit", () => {
  test("never accept more devices than allowed", async () => {
    const settings = { mostAccepted: 7 };
    const first = await testController({ settings });
    const second = await testController({ settings, database: first.database });
    const key = await first.makeKey(allScopes);
    const ids = await insertDevices(first, 20);
    const answers = await Promise.all(
      ids.map((id, index) => setStates(index % 2 ? first : second, key, each([id], "accepted"))),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(7).fill(200), ...Array(13).fill(409)]);
    expect((await statesOf(first, key)).filter((state) => state === "accepted")).toHaveLength(7);
  });

  test("change one version once", async () => {
    const controller = await testController();
    const key = await controller.makeKey(allScopes);
    const [id = ""] = await insertDevices(controller, 1);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => {
        const state = index % 2 ? ("accepted" as const) : ("rejected" as const);
        return setStates(controller, key, [{ id, state, if_version: 1 }]);
      }),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
  });

  test("with ten bulks of a thousand accept them all, and answer reads meanwhile", async () => {
    const controller = await testController();
    const key = await controller.makeKey(allScopes);
    const ids = await insertDevices(controller, 1000);
    const bulks = Array.from({ length: 10 }, (_, index) =>
      setStates(controller, key, each(ids, index % 2 ? "rejected" : "accepted")),
    );
    expect((await controller.call("GET", `/device/${ids[0]}`, key)).status).toBe(200);
    expect((await Promise.all(bulks)).map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(new Set(await statesOf(controller, key)).size).toBe(1);
  });
});
