import { beforeAll, describe, expect, test } from "vitest";
import { nonceOf, proven, send } from "./enroll-support.ts";
import { enrollBody, newPair, type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
beforeAll(async () => {
  controller = await testController();
  key = await controller.makeKey(["devices:read"]);
});

const count = async () => Object.keys((await controller.call("GET", "/device", key)).json.devices).length;

describe("the proof", () => {
  const fields = { name: "laptop", serial: "SN-1", device_type: "laptop", device_os: "linux", version: "1" };
  const changes: [string, (body: Awaited<ReturnType<typeof proven>>) => object][] = [
    ["another name", () => ({ name: "laptop " })],
    ["no name", () => ({ name: null })],
    ["another serial number", () => ({ serial: "SN-2" })],
    ["another type", () => ({ device_type: "phone" })],
    ["another system", () => ({ device_os: "windows" })],
    ["another version", () => ({ version: "2" })],
    ["another device's key", () => ({ public_key: newPair().publicKey })],
    ["one changed bit", ({ proof }) => ({ proof: (proof[0] === "A" ? "B" : "A") + proof.slice(1) })],
    ["an all-zero signature", () => ({ proof: `${"A".repeat(86)}==` })],
    // The all-zero point accepts the all-zero signature in careless libraries.
    ["a key of small order", () => ({ public_key: `${"A".repeat(43)}=`, proof: `${"A".repeat(86)}==` })],
  ];
  test.each(changes)("is refused with %s", async (_, change) => {
    const before = await count();
    const body = await proven(controller, fields);
    const { status, json } = await send(controller, { ...body, ...change(body) });
    expect([status, json.type]).toEqual([403, "urn:relcat:problem:forbidden"]);
    expect(await count()).toBe(before);
    expect((await send(controller, body)).status).toBe(201);
  });

  test("does not confuse the fields it covers", async () => {
    const pair = newPair();
    const nonce = await nonceOf(controller);
    const { proof } = enrollBody(nonce, { name: 'a","b' }, pair);
    expect(
      (await send(controller, { ...enrollBody(nonce, { name: "a", serial: "b" }, pair), proof })).status,
    ).toBe(403);
  });
});

describe("a nonce", () => {
  test("works once, for one device or two", async () => {
    const nonce = await nonceOf(controller);
    const [first, second] = [newPair(), newPair()];
    expect((await send(controller, enrollBody(nonce, {}, first))).status).toBe(201);
    expect((await send(controller, enrollBody(nonce, {}, first))).status).toBe(403);
    expect((await send(controller, enrollBody(nonce, {}, second))).status).toBe(403);
  });

  test("works once for many at the same time", async () => {
    const nonce = await nonceOf(controller);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => send(controller, enrollBody(nonce, {}, newPair()))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(403)]);
  });

  test("is still valid after a proof that does not match", async () => {
    const pair = newPair();
    const body = enrollBody(await nonceOf(controller), {}, pair);
    await send(controller, { ...body, name: "other" });
    expect((await send(controller, body)).status).toBe(201);
  });

  test("works until its end, and not a millisecond longer", async () => {
    const own = await testController();
    const { json } = await own.call("GET", "/device/enroll");
    const ends = Date.parse(json.expires_at);
    expect(ends - own.now()).toBe(300_000);
    own.setTime(ends + 1);
    expect((await send(own, enrollBody(json.nonce, {}, newPair()))).status).toBe(403);
    own.setTime(ends);
    expect((await send(own, enrollBody(json.nonce, {}, newPair()))).status).toBe(201);
  });

  test("remains used until its end", async () => {
    const own = await testController();
    const { json } = await own.call("GET", "/device/enroll");
    await send(own, enrollBody(json.nonce, {}, newPair()));
    own.setTime(Date.parse(json.expires_at));
    await own.enroll();
    expect((await send(own, enrollBody(json.nonce, {}, newPair()))).status).toBe(403);
  });

  test("cannot be forged", async () => {
    const nonce = await nonceOf(controller);
    const [ends, random, mac = ""] = nonce.split(".");
    const foreign = await nonceOf(await testController());
    const forged = [
      `${Number(ends) + 1}.${random}.${mac}`,
      `${ends}.${random}x.${mac}`,
      `${ends}.${random}`,
      `${ends}.${random}.`,
      `${ends}.${random}.${mac.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))}`,
      `${nonce}.x`,
      "NaN.x.y",
      "1",
    ];
    for (const other of forged) {
      expect([other, (await send(controller, enrollBody(other, {}, newPair()))).status]).toEqual([
        other,
        403,
      ]);
    }
    // All controllers of one pepper are one installation.
    expect((await send(controller, enrollBody(foreign, {}, newPair()))).status).toBe(201);
  });
});

describe("an enrolment", () => {
  test.each([
    ["no members", () => ({})],
    ["a short key", () => ({ public_key: "AAAA" })],
    ["a state", () => ({ state: "accepted" })],
    ["an id", () => ({ id: "00000000-0000-4000-8000-000000000000" })],
    ["a name with line breaks", () => ({ name: "a\nb" })],
    ["half a character", () => ({ name: "\ud800" })],
    ["a name that is too long", () => ({ name: "x".repeat(256) })],
    ["a serial number that is a number", () => ({ serial: 7 })],
  ])("with %s is refused before the proof is checked", async (name, change) => {
    const body = name === "no members" ? {} : { ...(await proven(controller)), ...change() };
    expect((await send(controller, body)).status).toBe(400);
  });

  test("needs no members but the key and its proof", async () => {
    const { public_key, nonce, proof } = await proven(controller);
    expect((await send(controller, { public_key, nonce, proof })).status).toBe(201);
  });
});

test("a known device gets its state, and its new details change nothing", async () => {
  const { id, pair } = await controller.enroll({ name: "laptop", serial: "SN-77" });
  const again = await controller.enroll({ name: "other", serial: "SN-78", version: "2" }, pair);
  expect([again.status, again.json]).toEqual([200, { id, state: "pending" }]);
  const { json } = await controller.call("GET", `/device/${id}`, key);
  expect(json).toMatchObject({ name: "laptop", serial: "SN-77", last_seen_version: "2", version: 1 });
});

test("one key that enrols many times concurrently is one device", async () => {
  const pair = newPair();
  const bodies = await Promise.all(Array.from({ length: 10 }, () => proven(controller, {}, pair)));
  const answers = await Promise.all(bodies.map((body) => send(controller, body)));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
  expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
});
