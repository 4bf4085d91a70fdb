import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { readRaw, sendRaw } from "./access-connections.ts";
import { fromElsewhere, proxied } from "./access-principals.ts";
import { type Answered, basic, type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
let other: TestKey;
/** The answer without credentials, which all invalid credentials must get. */
let anonymous: Answered;
beforeAll(async () => {
  controller = await testController({ serve: proxied });
  [key, other] = [await controller.makeKey(), await controller.makeKey()];
  anonymous = await controller.call("GET", "/device");
});

const encoded = (pair: string) => Buffer.from(pair, "latin1").toString("base64");
const pair = () => `${key.id}:${key.key}`;
const whole = () => encoded(pair());

/** Malformed Authorization headers. */
const malformed: Record<string, () => string> = {
  "nothing at all": () => "",
  "the scheme alone": () => "Basic",
  "the scheme and a space": () => "Basic ",
  "no scheme": () => whole(),
  "Bearer with the pair": () => `Bearer ${whole()}`,
  "Bearer with the key": () => `Bearer ${key.key}`,
  "Token with the key": () => `Token ${key.key}`,
  Digest: () => `Digest username="${key.id}"`,
  Negotiate: () => `Negotiate ${whole()}`,
  "another scheme's name before": () => `XBasic ${whole()}`,
  "two spaces": () => `Basic  ${whole()}`,
  "a tab for the space": () => `Basic\t${whole()}`,
  "the pair in the clear": () => `Basic ${pair()}`,
  "the pair quoted": () => `Basic "${whole()}"`,
  "two pairs": () => `Basic ${whole()} ${whole()}`,
  "two pairs with a comma": () => `Basic ${whole()}, Basic ${whole()}`,
  "a parameter after it": () => `Basic ${whole()}; charset=UTF-8`,
  "no colon": () => `Basic ${encoded(`${key.id}${key.key}`)}`,
  "a colon alone": () => `Basic ${encoded(":")}`,
  "no user": () => `Basic ${encoded(`:${key.key}`)}`,
  "no password": () => `Basic ${encoded(`${key.id}:`)}`,
  "the id alone": () => `Basic ${encoded(key.id)}`,
  "the key alone": () => `Basic ${encoded(key.key)}`,
  "the key as user": () => `Basic ${encoded(`${key.key}:`)}`,
  "user and password exchanged": () => `Basic ${encoded(`${key.key}:${key.id}`)}`,
  "what is no base64": () => "Basic %%%%",
  "base64 of other characters": () => `Basic ${encoded(`${key.id}:\xff\xfe\xff`)}`,
  "base64 cut short": () => `Basic ${whole().slice(0, -3)}`,
  "base64 with a line break's space": () => `Basic ${whole().slice(0, 40)} ${whole().slice(40)}`,
  "base64 with too much padding": () => `Basic ${whole().replace(/=*$/, "===")}`,
  "base64 for URLs": () => `Basic ${encoded(`${pair()}\xfb\xff`).replaceAll("+", "-").replaceAll("/", "_")}`,
  "base64 twice": () => `Basic ${encoded(whole())}`,
  "base64 in other cases": () => `Basic ${whole().toLowerCase()}`,
  "NUL after the key": () => `Basic ${encoded(`${pair()}\0`)}`,
  "NUL before the colon": () => `Basic ${encoded(`${key.id}\0:${key.key}`)}`,
  "a line break after the key": () => `Basic ${encoded(`${pair()}\n`)}`,
  "a return after the key": () => `Basic ${encoded(`${pair()}\r\n`)}`,
  "a space after the key": () => `Basic ${encoded(`${pair()} `)}`,
  "a space before the id": () => `Basic ${encoded(` ${pair()}`)}`,
  "junk before the key": () => `Basic ${encoded(`${key.id}:junk${key.key}`)}`,
  "junk after the key": () => `Basic ${encoded(`${pair()}0`)}`,
  "the key twice": () => `Basic ${encoded(`${key.id}:${key.key}${key.key}`)}`,
  "a second colon": () => `Basic ${encoded(`${key.id}::${key.key}`)}`,
  "the key in capitals": () => `Basic ${encoded(`${key.id}:${key.key.toUpperCase()}`)}`,
  "the id in capitals": () => `Basic ${encoded(`${key.id.toUpperCase()}:${key.key}`)}`,
  "the id in braces": () => `Basic ${encoded(`{${key.id}}:${key.key}`)}`,
  "the prefix alone": () => `Basic ${encoded(`${key.id}:rck_`)}`,
  "the key without its prefix": () => `Basic ${encoded(`${key.id}:${key.key.slice(4)}`)}`,
  "another prefix": () => `Basic ${encoded(`${key.id}:rcu_${key.key.slice(4)}`)}`,
  "the id of another key": () => `Basic ${encoded(`${other.id}:${key.key}`)}`,
  "an unknown id": () => `Basic ${encoded(`${randomUUID()}:${key.key}`)}`,
  "an id of version 7": () => `Basic ${encoded(`01932c07-209a-7ecc-86e4-2e4b1d3e0c11:${key.key}`)}`,
  "an email address for the id": () => `Basic ${encoded(`owner@example.com:${key.key}`)}`,
  "SQL for the id": () => `Basic ${encoded(`' or 1=1 --:${key.key}`)}`,
  "eight KiB": () => `Basic ${"A".repeat(8192)}`,
};

/** Everything a client can see, except values that differ with every request. */
function seen({ status, headers, text }: Answered) {
  const changing = ["x-request-id", "date"];
  return { status, headers: [...headers].filter(([name]) => !changing.includes(name)), text };
}

describe("an Authorization header with", () => {
  test.each(Object.entries(malformed))(
    "%s is refused like a request without credentials",
    async (_name, header) => {
      const headers = { ...fromElsewhere(), authorization: header() };
      const answer = await controller.call("GET", "/device", { headers });
      expect(answer.status).toBe(401);
      expect(answer.text).toBe(anonymous.text);
      expect(answer.headers.get("www-authenticate")).toBe('Basic realm="controller", charset="UTF-8"');
    },
  );

  test.each(["Basic", "basic", "BASIC", "bAsIc"])("the scheme written as %s is accepted", async (scheme) => {
    const headers = { authorization: `${scheme} ${whole()}` };
    expect((await controller.call("GET", "/device", { headers })).status).toBe(200);
  });
});

describe("the controller ignores credentials in", () => {
  const rawGet = (path: string, ...lines: string[]) =>
    [`GET /-net/api/v0${path} HTTP/1.1`, "Host: localhost", "Connection: close", ...lines, "", ""].join(
      "\r\n",
    );

  test("two Authorization headers, even if they are equal", async () => {
    const header = `Authorization: Basic ${whole()}`;
    const one = readRaw(await sendRaw(controller.url, rawGet("/device", header)));
    expect(one.status).toBe(200);
    const second = `Authorization: Basic ${encoded(`${other.id}:${other.key}`)}`;
    for (const lines of [
      [header, header],
      [header, second],
    ]) {
      const { status, body } = readRaw(await sendRaw(controller.url, rawGet("/device", ...lines)));
      expect([status, body]).toEqual([401, anonymous.text]);
    }
  });

  test.each(["key", "api_key", "access_token", "Authorization"])("the parameter %s", async (name) => {
    const value = name === "Authorization" ? `Basic ${whole()}` : key.key;
    const answer = await controller.call("GET", `/device?${name}=${encodeURIComponent(value)}`);
    expect([answer.status, answer.text]).toEqual([401, anonymous.text]);
  });

  test.each(["x-api-key", "x-auth-token", "proxy-authorization"])("the header %s", async (name) => {
    const headers = { ...fromElsewhere(), [name]: name.startsWith("x-") ? key.key : `Basic ${whole()}` };
    const answer = await controller.call("GET", "/device", { headers });
    expect([answer.status, answer.text]).toEqual([401, anonymous.text]);
  });

  test("a cookie with the name Authorization", async () => {
    const { status } = readRaw(
      await sendRaw(controller.url, rawGet("/device", `Cookie: Authorization=Basic ${whole()}`)),
    );
    expect(status).toBe(401);
  });
});

describe("a key that is refused for any reason", () => {
  test("gets the same bytes as answer, and only the audit log has the reason", async () => {
    const { call, makeKey, makeUser } = controller;
    controller.setTime(controller.now() + 60_000);
    const expired = await makeKey(undefined, 1);
    controller.setTime(controller.now() + 24 * 3_600_000);
    const { headers } = await makeUser("Owner");
    const [wrong, disabled, revoked] = [await makeKey(), await makeKey(), await makeKey()];
    await call("POST", `/api_keys/${disabled.id}`, { headers, body: { disabled: true } });
    await call("DELETE", `/api_keys/${revoked.id}`, { headers });
    const unknown = randomUUID();
    const cases: Record<string, [id: string, headers: Record<string, string>]> = {
      unknown: [unknown, basic(unknown, wrong.key)],
      wrong: [wrong.id, basic(wrong.id, `rck_${randomUUID()}`)],
      expired: [expired.id, expired.headers],
      disabled: [disabled.id, disabled.headers],
      revoked: [revoked.id, revoked.headers],
    };
    const none = seen(await call("GET", "/device"));
    expect(none.status).toBe(401);
    for (const [, credentials] of Object.values(cases))
      expect(seen(await call("GET", "/device", { headers: credentials }))).toEqual(none);

    const { json } = await call("GET", "/audit_log?code=auth.failed&limit=5", { headers });
    const logged = json.audit_log.map((row: { target: unknown; after: unknown; actor: unknown }) => [
      row.target,
      row.after,
      row.actor,
    ]);
    const actor = { kind: "nobody", id: null, name: null, ip: "127.0.0.1" };
    expect(logged.toReversed()).toEqual(
      Object.entries(cases).map(([reason, [id]]) => [{ kind: "key", id }, { reason }, actor]),
    );
  });
});

describe("a user's token on v0", () => {
  test("is accepted only in the right place and form", async () => {
    const { call, makeUser } = controller;
    const user = await makeUser("Owner");
    const { json: token } = await call("POST", "/user/tokens", { headers: user.headers });
    const answer = await call("GET", "/device", { headers: basic(token.id, token.key) });
    expect([answer.status, answer.json.type]).toEqual([403, "urn:relcat:problem:wrong-alias"]);
    expect(answer.json.detail).toBe("A user's token works below /latest/ only; API keys work here.");
    const guessed = basic(token.id, `rcu_${randomUUID()}`);
    const wrong = await call("GET", "/device", { headers: { ...fromElsewhere(), ...guessed } });
    expect([wrong.status, wrong.text]).toEqual([401, anonymous.text]);
  });
});
