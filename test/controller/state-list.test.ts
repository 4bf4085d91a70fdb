import { beforeAll, describe, expect, test } from "vitest";
import { insertDevices } from "./state-support.ts";
import { type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
let ids: string[];
beforeAll(async () => {
  controller = await testController();
  key = await controller.makeKey();
  const states = ["pending", "accepted", "rejected"] as const;
  ids = await insertDevices(controller, 30, (index) => ({
    name: `laptop ${index}`,
    serial: `SN-${1000 + index}`,
    state: states[index % 3] ?? "pending",
  }));
});

const list = (query = "", headers = key.headers) => controller.call("GET", `/device${query}`, { headers });
const idsOf = async (query: string) => Object.keys((await list(query)).json.devices);

describe("the whole list", () => {
  test("is a map by id in order of creation, without internal fields", async () => {
    const { status, json, headers } = await list();
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(["devices"]);
    expect(Object.keys(json.devices)).toEqual(ids);
    expect(Object.keys(json.devices[ids[0] ?? ""])).toEqual([
      ..."id name state serial public_key ipv6 device_type device_os controller_id owned_by_org".split(" "),
      ..."assigned_to_user last_seen last_seen_version version created_at state_changed_at".split(" "),
      ..."state_changed_by state_reason".split(" "),
    ]);
    expect(headers.get("link")).toBeNull();
  });

  test("is one valid document of 3,000 devices, in order", async () => {
    const large = await testController();
    const made = await insertDevices(large, 3000, (index) => ({ name: `"quoted", {${index}}\\` }));
    const { json } = await large.call("GET", "/device", await large.makeKey());
    expect(Object.keys(json.devices)).toEqual(made);
    expect(json.devices[made[2999] ?? ""].name).toBe('"quoted", {2999}\\');
  });

  test.each([0, 500, 501, 1000])("has %i devices, without an empty or missing portion", async (count) => {
    const other = await testController();
    const made = await insertDevices(other, count);
    const { json } = await other.call("GET", "/device", await other.makeKey());
    expect(Object.keys(json.devices)).toEqual(made);
  });
});

describe("the filters", () => {
  test("select by state, by serial number in any case, and by part of name, serial number or id", async () => {
    expect(await idsOf("?state=accepted")).toEqual(ids.filter((_, index) => index % 3 === 1));
    expect(await idsOf("?serial=%20sn-1004%20")).toEqual([ids[4]]);
    expect(await idsOf("?serial=SN-10")).toEqual([]);
    expect(await idsOf("?q=TOP%202")).toEqual([2, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29].map((i) => ids[i]));
    expect(await idsOf("?q=sn-1009")).toEqual([ids[9]]);
    expect(await idsOf(`?q=${ids[7]?.slice(9, 30)}`)).toEqual([ids[7]]);
    expect(await idsOf("?q=TOP%202&state=rejected")).toEqual([2, 20, 23, 26, 29].map((i) => ids[i]));
  });

  test.each([
    ["?stat=accepted", "stat"],
    ["?state=Accepted", "state"],
    ["?state=", "state"],
    ["?state=accepted&state=accepted", "state"],
    ["?limit=0", "limit"],
    ["?limit=-1", "limit"],
    ["?limit=1e9", "limit"],
    ["?limit=1001", "limit"],
    ["?limit=abc", "limit"],
    ["?limit=5%20", "limit"],
    ["?cursor=5.abc&limit=5", "cursor"],
    ["?cursor=5", "cursor"],
    ["?sort=name", "sort"],
    ["?sort=serial&limit=5", "sort"],
    ["?q=", "q"],
    ["?q=%00", "q"],
    [`?q=${"x".repeat(256)}`, "q"],
    ["?__proto__=1", "__proto__"],
    ["?ordering=id", "ordering"],
  ])("refuse %s by name", async (query, pointer) => {
    const { status, json } = await list(query);
    expect(status).toBe(400);
    expect(json.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
  });

  test("treat SQL wildcards as characters, and match letters beyond ASCII", async () => {
    const other = await testController();
    const { headers } = await other.makeKey();
    const names = ["100%", "a_b", "axb", "back\\slash", "Ärger", "'; drop table devices; --"];
    const made = await insertDevices(other, names.length, (index) => ({ name: names[index] ?? "" }));
    const found = async (q: string) => {
      const { json } = await other.call("GET", `/device?q=${encodeURIComponent(q)}`, { headers });
      return Object.keys(json.devices).map((id) => names[made.indexOf(id)]);
    };
    expect(await found("%")).toEqual(["100%"]);
    expect(await found("_")).toEqual(["a_b"]);
    expect(await found("\\")).toEqual(["back\\slash"]);
    expect(await found("Ärger")).toEqual(["Ärger"]);
    expect(await found("'; DROP")).toEqual(["'; drop table devices; --"]);
  });
});

describe("a page of the list", () => {
  const nextOf = (link: string | null) =>
    /<\/-net\/api\/v0\/device(\?[^>]+)>; rel="next"/.exec(link ?? "")?.[1];
  const previousOf = (link: string | null) =>
    /<\/-net\/api\/v0\/device(\?[^>]+)>; rel="prev"/.exec(link ?? "")?.[1];

  test("has every device once together with the others, and the count of matches", async () => {
    const seen: string[] = [];
    for (let query: string | undefined = "?limit=7&state=pending"; query; ) {
      const { status, json, headers } = await list(query);
      expect([status, headers.get("x-total-count")]).toEqual([200, "10"]);
      seen.push(...Object.keys(json.devices));
      query = nextOf(headers.get("link"));
    }
    expect(seen).toEqual(ids.filter((_, index) => index % 3 === 0));
  });

  test("has no next page if it is full and the last", async () => {
    const { headers } = await list("?limit=30");
    expect(headers.get("link")).toBeNull();
  });

  test("has every device once even if devices are added", async () => {
    const other = await testController();
    const { headers } = await other.makeKey();
    const made = await insertDevices(other, 20);
    const seen: string[] = [];
    for (let query: string | undefined = "?limit=3"; query; ) {
      const { json, headers: answered } = await other.call("GET", `/device${query}`, { headers });
      seen.push(...Object.keys(json.devices));
      if (made.length < 40) made.push(...(await insertDevices(other, 2)));
      query = nextOf(answered.get("link"));
    }
    expect(seen).toEqual(made);
  });

  test("is sorted by name as a person counts, and leads both ways", async () => {
    const other = await testController();
    const { headers } = await other.makeKey();
    const names = ["Laptop-10", "laptop-2", null, "laptop-1", "ärger", "laptop-02b", "Laptop-100", "a", "x"];
    await insertDevices(other, names.length, (index) => ({ name: names[index] ?? null, serial: "SN-3" }));
    const sorted = ["a", "laptop-1", "laptop-2", "laptop-02b", "Laptop-10", "Laptop-100", "x", "ärger", null];
    const ask = async (query: string) => {
      const answer = await other.call("GET", `/device${query}`, { headers });
      const devices = Object.values<{ name: string | null }>(answer.json.devices);
      return { names: devices.map(({ name }) => name), link: answer.headers.get("link") };
    };
    const pages: (string | null)[][] = [];
    let last = { names: [] as (string | null)[], link: "" as string | null };
    for (let query: string | undefined = "?limit=4&sort=name"; query; query = nextOf(last.link)) {
      last = await ask(query);
      pages.push(last.names);
    }
    expect(pages).toEqual([sorted.slice(0, 4), sorted.slice(4, 8), sorted.slice(8)]);
    const back = await ask(previousOf(last.link) ?? "");
    expect([back.names, nextOf(back.link) !== undefined]).toEqual([pages[1], true]);
    const first = await ask(previousOf(back.link) ?? "");
    expect([first.names, previousOf(first.link)]).toEqual([pages[0], undefined]);
    expect((await ask(nextOf(first.link) ?? "")).names).toEqual(pages[1]);
  });

  test("leads back in order of creation too, to the rows right before it", async () => {
    const { headers } = await list("?limit=12");
    const second = await list(nextOf(headers.get("link")));
    const back = await list(previousOf(second.headers.get("link")));
    expect(Object.keys(back.json.devices)).toEqual(ids.slice(0, 12));
    expect(previousOf(back.headers.get("link"))).toBeUndefined();
  });

  test("follows a device to its new name", async () => {
    const other = await testController();
    const owner = await other.makeUser("Owner");
    for (const name of ["b", "c"]) await other.enroll({ name });
    const { id } = await other.enroll({ name: "a" });
    const body = { name: "d" };
    await other.call("POST", `/device/${id}`, { headers: owner.headers, body });
    const { json } = await other.call("GET", "/device?limit=9&sort=name", { headers: owner.headers });
    expect(Object.values<{ name: string }>(json.devices).map(({ name }) => name)).toEqual(["b", "c", "d"]);
  });

  test("has a cursor for its key and its filters only", async () => {
    const next = nextOf((await list("?limit=5&state=pending")).headers.get("link")) ?? "";
    const cursor = new URLSearchParams(next).get("cursor");
    expect((await list(next)).status).toBe(200);
    expect((await list(next.replace("limit=5", "limit=9"))).status).toBe(200);
    expect((await list(`?limit=5&state=accepted&cursor=${cursor}`)).status).toBe(400);
    expect((await list(`?limit=5&cursor=${cursor}`)).status).toBe(400);
    expect((await list(`?cursor=${cursor}&state=pending`)).status).toBe(400);
    expect((await list(next.replace("cursor=", "cursor=1"))).status).toBe(400);
    expect((await list(next.replace("cursor=", "cursor=-"))).status).toBe(400);
    expect((await list(`${next}&sort=name`)).status).toBe(400);
    const other = await controller.makeKey();
    expect((await list(next, other.headers)).status).toBe(400);
  });
});
