import { beforeEach, describe, expect, test } from "vitest";
import { boxOf, signIn, type Visitor } from "./pages-support.ts";
import { allScopes, each, setStates } from "./state-support.ts";
import { type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
let old: string;
let newer: string;
const enrolled = async (name: string, serial: string) => (await controller.enroll({ name, serial })).id;

/** laptop-7 is accepted; a device with another key claims its serial number. */
beforeEach(async () => {
  controller = await testController();
  key = await controller.makeKey(allScopes);
  old = await enrolled("laptop-7", "SN-7");
  await setStates(controller, key, each([old], "accepted"));
  newer = await enrolled("laptop-7-new", " sn-7 ");
});

describe("POST device/state names an acceptance whose serial number another accepted device has,", () => {
  const same = async (items: Parameters<typeof setStates>[2], more = {}) => {
    const { status, json } = await controller.call("POST", "/device/state", {
      ...key,
      body: { devices: items, ...more },
    });
    expect(status).toBe(200);
    return json.same_serial;
  };

  test("in a trial and in the change itself, and otherwise has no such member", async () => {
    expect(await same(each([newer], "accepted"), { dry_run: true })).toEqual([{ id: newer, accepted: old }]);
    expect(await same(each([newer], "accepted"))).toEqual([{ id: newer, accepted: old }]);
    expect(await same(each([newer], "accepted"))).toBeUndefined();
    expect(await same(each([newer], "rejected"))).toBeUndefined();
    expect(await same(each([await enrolled("phone", "SN-8")], "accepted"))).toBeUndefined();
  });

  test("also for two devices of one request, but not for a device that is rejected in it", async () => {
    expect(
      await same([...each([newer], "accepted"), ...each([old], "rejected")], { dry_run: true }),
    ).toBeUndefined();
    await setStates(controller, key, each([old], "rejected"));
    const third = await enrolled("laptop-7-third", "SN-7");
    expect(await same(each([newer, third], "accepted"))).toEqual([
      { id: newer, accepted: third },
      { id: third, accepted: newer },
    ]);
  });

  test("except for placeholders of vendors", async () => {
    const [one, two] = [
      await enrolled("a", "To Be Filled By O.E.M."),
      await enrolled("b", "To Be Filled By O.E.M."),
    ];
    expect(await same(each([one, two], "accepted"))).toBeUndefined();
  });
});

describe("the pages warn of it,", () => {
  let visit: Visitor;
  beforeEach(async () => {
    visit = await signIn(controller, await controller.makeUser("Owner"));
  });
  const inList = (id: string, name: string) =>
    `<span class="twin">The accepted device <a href="/devices/${id}"><bdi>${name}</bdi></a> has it too.</span>`;

  test("in the list, at pending and accepted devices, until one of the two is rejected", async () => {
    await enrolled("phone", "SN-8");
    const { text } = await visit.get("/devices");
    expect(text).toContain(inList(old, "laptop-7"));
    expect(text.split('class="twin"')).toHaveLength(2);
    expect((await visit.get("/devices?state=accepted")).text).not.toContain('class="twin"');
    await setStates(controller, key, each([newer], "accepted"));
    const accepted = (await visit.get("/devices?state=accepted")).text;
    expect(accepted).toContain(inList(old, "laptop-7"));
    expect(accepted).toContain(inList(newer, "laptop-7-new"));
    await setStates(controller, key, each([old], "rejected"));
    for (const state of ["accepted", "rejected"])
      expect((await visit.get(`/devices?state=${state}`)).text).not.toContain('class="twin"');
  });

  test("at the device, with the way to replace the key of a machine", async () => {
    expect((await visit.get(`/devices/${newer}`)).text).toContain(
      `<p class="banner danger">The accepted device <a href="/devices/${old}"><bdi>laptop-7</bdi></a> has the same serial number. If this is the same machine with a new key, reject that device first.`,
    );
    expect((await visit.get(`/devices/${old}`)).text).not.toContain("has the same serial number");
  });

  test("before several devices are accepted", async () => {
    const others = await Promise.all(
      [1, 2, 3, 4, 5].map((number) => enrolled(`phone-${number}`, `SN-1${number}`)),
    );
    const page = await visit.get("/devices");
    const device = [newer, ...others].map((id) => boxOf(page, id));
    const { text } = await visit.post("/devices?state=pending", { device, state: "accepted" });
    expect(text).toContain(
      '<p class="banner danger">1 device with the serial number of another accepted device: <bdi>laptop-7-new</bdi>.</p>',
    );
  });
});
