import { beforeEach, describe, expect, test } from "vitest";
import { decide, proven, send } from "./enroll-support.ts";
import { allScopes, each, setStates } from "./state-support.ts";
import { type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
beforeEach(async () => {
  controller = await testController();
  key = await controller.makeKey(allScopes);
});

const decisions = async () =>
  (await controller.call("GET", "/device/auth_decisions", key)).json.auth_decisions as Record<
    string,
    unknown
  >[];
const enrolled = async (serial: string | null) => (await controller.enroll({ serial })).json;

describe("an acceptance in advance", () => {
  test("is for one device, which gets its token immediately", async () => {
    await decide(controller, key, { "SN-100": "accepted" });
    expect(await enrolled("SN-100")).toMatchObject({
      state: "accepted",
      token: expect.stringMatching(/^rcd_/),
    });
    expect(await decisions()).toEqual([]);
    expect(await enrolled("SN-100")).toEqual({ id: expect.any(String), state: "pending" });
  });

  test("is for the first of many that enrol concurrently", async () => {
    await decide(controller, key, { "SN-100": "accepted" });
    const bodies = await Promise.all(
      Array.from({ length: 10 }, () => proven(controller, { serial: "SN-100" })),
    );
    const answers = await Promise.all(bodies.map((body) => send(controller, body)));
    const states = answers.map(({ json }) => json.state).sort();
    expect(states).toEqual(["accepted", ...Array(9).fill("pending")]);
    expect(answers.filter(({ json }) => "token" in json)).toHaveLength(1);
  });

  test.each(["sn-100", " SN-100 ", "ＳＮ-１００", "\u00a0SN-100"])(
    "matches the number as %j",
    async (serial) => {
      await decide(controller, key, { "SN-100": "accepted" });
      expect((await enrolled(serial)).state).toBe("accepted");
    },
  );

  test("is kept for later if no more devices can be accepted", async () => {
    const full = await testController({ settings: { mostAccepted: 0 } });
    const own = await full.makeKey(allScopes);
    await decide(full, own, { "SN-100": "accepted" });
    const { id, json } = await full.enroll({ serial: "SN-100" });
    expect(json).toEqual({ id, state: "pending" });
    const rows = (await full.call("GET", "/device/auth_decisions", own)).json.auth_decisions;
    expect(rows).toMatchObject([{ serial: "SN-100", enforce_state: "accepted" }]);
  });
});

describe("a decision in advance", () => {
  test("to reject applies to every device with the number", async () => {
    await decide(controller, key, { "SN-100": "rejected" });
    expect([(await enrolled("SN-100")).state, (await enrolled("sn-100")).state]).toEqual([
      "rejected",
      "rejected",
    ]);
    expect(await decisions()).toMatchObject([{ enforce_state: "rejected", source: "decision" }]);
  });

  test("to retain gives a new key the state that the machine had", async () => {
    const { id } = await controller.enroll({ serial: "SN-100" });
    await decide(controller, key, { "SN-100": "retain" });
    expect((await enrolled("SN-100")).state).toBe("pending");
    await setStates(controller, key, each([id], "accepted"));
    const latest = (await enrolled("SN-200")).id;
    await controller.call("POST", "/device/auth_decisions", {
      ...key,
      body: { auth_decisions: [{ serial: "SN-300", enforce_state: "retain", device_id: id }] },
    });
    expect(await enrolled("SN-300")).toMatchObject({ state: "accepted", token: expect.any(String) });
    await setStates(controller, key, each([latest], "accepted"));
    await decide(controller, key, { "SN-400": "retain" });
    expect((await enrolled("SN-400")).state).toBe("pending");
  });

  test("is removed with none, and an unknown device is 404", async () => {
    await decide(controller, key, { "SN-100": "accepted", "SN-200": "rejected" });
    expect((await decide(controller, key, { "sn-100": "none" })).json.auth_decisions).toEqual([]);
    expect(await decisions()).toMatchObject([{ serial: "SN-200" }]);
    const body = { auth_decisions: [{ serial: "SN-300", enforce_state: "retain", device_id: "nothing" }] };
    expect((await controller.call("POST", "/device/auth_decisions", { ...key, body })).status).toBe(404);
    expect(await decisions()).toHaveLength(1);
  });

  test("is refused if a request has a number twice, in any form", async () => {
    const answer = await decide(controller, key, { "SN-100": "accepted", " sn-100": "rejected" });
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([400, "/auth_decisions/1/serial"]);
    expect(await decisions()).toEqual([]);
  });
});

describe("a placeholder serial number", () => {
  const placeholders = [
    "To Be Filled By O.E.M.",
    "to be filled by o.e.m. ",
    "None",
    "0000000",
    "Default string",
    "--",
  ];
  test.each(placeholders)("as %j is refused in decisions and never matches", async (serial) => {
    expect((await decide(controller, key, { [serial]: "accepted" })).status).toBe(400);
    const first = await enrolled(serial);
    await setStates(controller, key, each([first.id], "rejected"));
    expect(await decisions()).toEqual([]);
    expect((await enrolled(serial)).state).toBe("pending");
    expect((await enrolled(null)).state).toBe("pending");
  });
});

describe("a rejected laptop", () => {
  const variants = ["SN-100", "sn-100", "  SN-100", "SN-100 ", "ｓｎ-100"];

  async function rejectedLaptop(): Promise<string> {
    const { id } = await controller.enroll({ serial: "SN-100" });
    await setStates(controller, key, each([id], "rejected"));
    return id;
  }

  test("remains rejected under its own key and under every new one", async () => {
    const { id, pair } = await controller.enroll({ serial: "SN-100" });
    await setStates(controller, key, each([id], "rejected"));
    expect((await controller.enroll({}, pair)).json).toEqual({ id, state: "rejected" });
    for (const serial of variants) expect((await enrolled(serial)).state).toBe("rejected");
  });

  test("is not admitted by an earlier acceptance", async () => {
    const { id } = await controller.enroll({ serial: "SN-100" });
    await decide(controller, key, { "SN-100": "accepted" });
    await setStates(controller, key, each([id], "rejected"));
    for (const serial of variants) expect((await enrolled(serial)).state).toBe("rejected");
  });

  test.each(["accepted", "retain"] as const)("is not admitted by %s later", async (decision) => {
    const id = await rejectedLaptop();
    for (const serial of variants) {
      const { status, json } = await decide(controller, key, { [serial]: decision });
      expect([status, json.detail]).toEqual([409, expect.stringContaining(id)]);
    }
    expect((await enrolled("SN-100")).state).toBe("rejected");
  });

  test("is not admitted by a list of acceptances, which counts it separately, without include_rejected", async () => {
    await rejectedLaptop();
    await decide(controller, key, { "SN-200": "rejected", "SN-300": "rejected", "SN-400": "rejected" });
    const list = ["SN-100", "SN-200", "SN-300", "SN-400", "SN-500"];
    const accept = (more: object = {}) =>
      controller.call("POST", "/device/auth_decisions", {
        ...key,
        body: { auth_decisions: list.map((serial) => ({ serial, enforce_state: "accepted" })), ...more },
      });
    const { status, json } = await accept();
    const states = json.auth_decisions.map((each: { enforce_state: string }) => each.enforce_state);
    expect([status, states]).toEqual([200, ["rejected", "rejected", "rejected", "rejected", "accepted"]]);
    expect(json.left_out).toEqual({ rejected: 4, serials: ["SN-100", "SN-200", "SN-300"] });
    for (const serial of ["SN-100", "SN-200"]) expect((await enrolled(serial)).state).toBe("rejected");
    const all = await accept({ include_rejected: true });
    expect([all.status, all.json.left_out]).toEqual([200, undefined]);
    for (const serial of list) expect((await enrolled(serial)).state).toBe("accepted");
  });

  test("is not admitted after it becomes pending, is deleted, or appears in another bulk", async () => {
    const id = await rejectedLaptop();
    await setStates(controller, key, each([id], "pending"));
    expect((await enrolled("SN-100")).state).toBe("rejected");
    await setStates(controller, key, each([id], "rejected"));
    await controller.call("DELETE", `/device/${id}`, key);
    expect((await enrolled("SN-100")).state).toBe("rejected");
    const [one, two] = Object.keys((await controller.call("GET", "/device", key)).json.devices);
    await setStates(controller, key, each([one ?? "", two ?? ""], "pending"));
    await setStates(controller, key, [...each([one ?? ""], "rejected"), ...each([two ?? ""], "accepted")]);
    expect((await enrolled("SN-100")).state).toBe("rejected");
  });

  test("is admitted when it is accepted", async () => {
    const id = await rejectedLaptop();
    await setStates(controller, key, each([id], "accepted"));
    expect(await decisions()).toEqual([]);
    expect((await enrolled("SN-100")).state).toBe("pending");
  });

  test("is admitted in advance when its rejection is taken back", async () => {
    const id = await rejectedLaptop();
    expect(await decisions()).toMatchObject([
      { serial: "SN-100", enforce_state: "rejected", source: "rejection", device_id: id },
    ]);
    expect((await decide(controller, key, { "SN-100": "rejected" })).status).toBe(200);
    expect(await decisions()).toMatchObject([{ source: "rejection" }]);
    expect((await decide(controller, key, { "SN-100": "none" })).status).toBe(200);
    expect((await enrolled("SN-100")).state).toBe("pending");
    expect((await decide(controller, key, { "SN-100": "accepted" })).status).toBe(200);
    expect((await enrolled("SN-100")).state).toBe("accepted");
  });

  test("does not fill the list with its new keys, and leaves room for other devices", async () => {
    await rejectedLaptop();
    const bodies = await Promise.all(
      Array.from({ length: 30 }, () => proven(controller, { serial: "SN-100" })),
    );
    const answers = await Promise.all(bodies.map((body) => send(controller, body)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(19);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(11);
    const { json } = await controller.call("GET", "/device?state=rejected", key);
    expect(Object.keys(json.devices)).toHaveLength(20);
    expect((await controller.call("GET", "/audit_log?code=enrolment.full", key)).json.audit_log).toEqual([]);
    expect((await enrolled("SN-200")).state).toBe("pending");
  });
});
