import { beforeAll, describe, expect, test } from "vitest";
import {
  allScopes,
  breakDatabase,
  each,
  type Fault,
  insertDevices,
  setStates,
  visible,
} from "./state-support.ts";
import { type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
let ids: string[];
beforeAll(async () => {
  controller = await testController();
  key = await controller.makeKey(allScopes);
  ids = await insertDevices(controller, 5, (index) => ({ serial: `SN-${index}` }));
  await setStates(controller, key, each([ids[3] ?? ""], "rejected"));
});

/** Accepts two devices, one of which frees its serial number, and rejects two with their serial numbers. */
const bulk = () => [
  ...each([ids[0] ?? "", ids[3] ?? ""], "accepted"),
  ...each([ids[1] ?? "", ids[2] ?? ""], "rejected"),
];

const faults: [string, (index: number) => Fault][] = [
  ["a device's row", (at) => ({ event: "update", table: "devices", when: `new.id = '${ids[at]}'` })],
  [
    "a serial number's row",
    (at) => ({ event: "insert", table: "serials", when: `new.device_id = '${ids[at]}'` }),
  ],
  [
    "a serial number's release",
    (at) => ({ event: "delete", table: "serials", when: `old.device_id = '${ids[at]}'` }),
  ],
  ["an audit row", (at) => ({ event: "insert", table: "audit_log", when: `new.target_id = '${ids[at]}'` })],
  ["the audit log's end", () => ({ event: "update", table: "meta", when: "new.key = 'audit_head'" })],
];
const places: [string, number, (index: number) => Fault][] = faults.flatMap(
  ([name, make], kind) =>
    [[0, 1, 2, 3], [1, 2], [3], [0, 1, 2, 3], [0]][kind]?.map((at): [string, number, typeof make] => [
      name,
      at,
      make,
    ]) ?? [],
);

describe("a database that fails during a bulk", () => {
  test.each(places)("%s, device %i: rolls everything back", async (_, at, make) => {
    const before = await visible(controller, key);
    const mend = await breakDatabase(controller, make(at));
    const { status, text } = await setStates(controller, key, bulk()).finally(mend);
    expect(status).toBe(500);
    expect(text).not.toContain("injected");
    expect(controller.said.splice(0).join()).toContain("injected");
    expect(await visible(controller, key)).toEqual(before);
  });

  test("accepts the same bulk after it recovers, and the audit log has no gap", async () => {
    expect((await setStates(controller, key, bulk())).json.changed).toBe(4);
    const { json } = await controller.call("GET", "/audit_log?limit=5", key);
    const last = json.audit_log[0].seq;
    expect(json.audit_log.map(({ seq, code }: Record<string, unknown>) => [seq, code])).toEqual(
      [0, 1, 2, 3, 4].map((back) => [last - back, "device.state"]),
    );
  });
});

describe("a database that fails during another write", () => {
  const rest: [string, Fault, (id: string) => Promise<{ status: number }>][] = [
    [
      "renaming",
      { event: "insert", table: "audit_log", when: "new.code = 'device.renamed'" },
      (id) => controller.call("POST", `/device/${id}`, { ...key, body: { name: "other" } }),
    ],
    [
      "enrolling",
      { event: "insert", table: "audit_log", when: "new.code = 'device.enrolled'" },
      () => controller.enroll({ serial: "SN-new" }),
    ],
    [
      "deciding in advance",
      { event: "insert", table: "serials", when: "new.serial = 'SN-b'" },
      () =>
        controller.call("POST", "/device/auth_decisions", {
          ...key,
          body: { auth_decisions: ["SN-a", "SN-b"].map((serial) => ({ serial, enforce_state: "accepted" })) },
        }),
    ],
  ];
  test.each(rest)("rolls back %s", async (_, fault, ask) => {
    const before = await visible(controller, key);
    const mend = await breakDatabase(controller, fault);
    expect((await ask(ids[0] ?? "").finally(mend)).status).toBe(500);
    expect(await visible(controller, key)).toEqual(before);
    expect((await ask(ids[0] ?? "")).status).toBeLessThan(300);
  });
});
