/** @module-tag long */
import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { repository } from "../support/run.ts";
import { ask } from "./origin.ts";
import { answerOf, basic, open, openCatalog, type Posting, posted, rpm, servePosts } from "./posting.ts";

interface Expected {
  status: number;
  type?: string;
  allow?: string;
  authenticate?: string | null;
  location?: string;
  json?: unknown;
  /** Fields with errors. */
  fields?: string[];
}

/**
 * Answers of the framework that existing API clients expect, with relcat's differences and reasons. "open":
 * the framework required no credentials, so these rows carry the token. "basic": the framework required
 * credentials for all methods. Everywhere: no Location from a record's data, and relcat's own realm.
 */
interface Row {
  variant: "open" | "basic";
  case: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
  base64?: string;
  answer: Expected;
  differs?: Partial<Expected> & { reason: string };
}

const rows: Row[] = JSON.parse(readFileSync(join(repository, "test/fixtures/http/post.json"), "utf8"));

let posting: Posting;
beforeAll(async () => {
  posting = await servePosts(openCatalog());
});

describe("the server answers as the framework did, or differs for a reason", () => {
  const named = rows.map(
    (row) => [`${row.variant}: ${row.case}`, row.differs?.reason ?? "the same", row] as const,
  );
  test.each(named)("%s: %s", async (_, _reason, { method, path, headers, body, base64, answer, differs }) => {
    const sent = base64 === undefined ? body : Buffer.from(base64, "base64");
    const got = await ask(posting.url, path, { method, headers, ...(sent !== undefined && { body: sent }) });
    const { json: _json, ...rest } = answer;
    const expected: Expected = differs ? { ...rest, ...differs } : answer;
    expect(got.status).toBe(expected.status);
    if (expected.type) expect(got.headers["content-type"]).toBe(expected.type);
    if (expected.allow) expect(got.headers.allow).toBe(expected.allow);
    expect(got.headers["www-authenticate"]).toBe(expected.authenticate ?? undefined);
    expect(got.headers.location).toBe(expected.location);
    if (expected.json) expect(JSON.parse(got.text)).toEqual(expected.json);
    if (expected.fields) expect(Object.keys(JSON.parse(got.text))).toEqual(expected.fields);
    if (got.status === 201) expect(JSON.parse(got.text)).toMatchObject({ id: null, version: open });
  });
});

describe("credentials", () => {
  test.each([
    ["Bearer", "Bearer pw"],
    ["any user", `Basic ${btoa("anybody:pw")}`],
    ["no user", `Basic ${btoa(":pw")}`],
  ])("are accepted as %s", async (_, authorization) => {
    expect((await posting.post({}, { authorization })).status).toBe(400);
  });

  test.each([
    ["Bearer", "Invalid token header. No credentials provided."],
    ["Bearer p w", "Invalid token header. Token string should not contain spaces."],
    ["Bearer pw2", "Invalid token."],
    ["Bearer p", "Invalid token."],
    [`Basic ${btoa("alice:")}`, "Invalid username/password."],
    [`Basic ${btoa("pw:alice")}`, "Invalid username/password."],
    ["Digest pw", "Authentication credentials were not provided."],
  ])("are refused as %s", async (authorization, detail) => {
    const answer = await posting.post({}, { authorization });
    expect(answerOf(answer)).toEqual({ status: 401, detail });
    expect(answer.headers["www-authenticate"]).toBe('Basic realm="relcat"');
  });

  test("can have any characters", async () => {
    const { post } = await servePosts(posting.catalog, { token: "schlüssel:à" });
    const bytes = Buffer.from("schlüssel:à").toString("latin1");
    expect((await post({}, { authorization: `Bearer ${bytes}` })).status).toBe(400);
    expect((await post({}, { authorization: `Basic ${btoa(`a:${bytes}`)}` })).status).toBe(400);
    expect((await post({})).status).toBe(401);
  });

  test("cannot be empty", async () => {
    await expect(servePosts(posting.catalog, { token: "" })).rejects.toThrow("the token is empty");
  });

  test("are checked before everything else", async () => {
    const answer = await posting.post("x".repeat(5_000_000), {
      authorization: "",
      "content-type": "text/plain",
    });
    expect(answer.status).toBe(401);
  });
});

describe("a body", () => {
  test.each(["application/json; charset=utf-8", "Application/JSON;x=y", " application/json"])(
    "is accepted as %s",
    async (type) => {
      expect((await posting.post({}, { "content-type": type })).status).toBe(400);
    },
  );

  test.each(["application/jsonx", "", "application/json, text/plain"])("is refused as %j", async (type) => {
    expect(answerOf(await posting.post({}, { "content-type": type }))).toEqual({
      status: 415,
      detail: `Unsupported media type "${type}" in request.`,
    });
  });

  test("is refused if it is compressed", async () => {
    const detail = 'Unsupported content encoding "gzip" in request.';
    expect(answerOf(await posting.post({}, { "content-encoding": "gzip" }))).toEqual({ status: 415, detail });
  });

  test.each([
    [
      "a duplicate key deep inside",
      '{"artifacts":[{"name":"a",\n"name":"b"}]}',
      'the key "name" occurs twice in one object, first at line 1, column 16: line 2 column 1',
    ],
    [
      "nesting",
      "[".repeat(100_000),
      "values are nested more than 64 levels deep, expected fewer: line 1 column 65",
    ],
    [
      "a byte order mark",
      "\ufeff{}",
      "the body starts with a byte order mark, expected UTF-8 text: line 1 column 1",
    ],
    ["NUL", '{"name":"\0"}', "the body contains a NUL byte, expected UTF-8 text: line 1 column 10"],
    ["two values", "{} {}", "not valid JSON: more text after the value: line 1 column 4"],
    ["white space", "  \n ", "the body is empty, expected JSON: line 2 column 2"],
  ])("is refused with %s", async (_, body, text) => {
    expect(answerOf(await posting.post(body))).toEqual({ status: 400, detail: `JSON parse error - ${text}` });
  });

  test.each([
    ["3", "int"],
    ["3.5", "float"],
    ["true", "bool"],
  ])("is refused as %s, because it is not an object", async (body, kind) => {
    const message = `Invalid data. Expected a dictionary, but got ${kind}.`;
    expect(answerOf(await posting.post(body))).toEqual({ status: 400, non_field_errors: [message] });
  });

  test("cannot set a prototype", async () => {
    expect(answerOf(await posting.post('{"__proto__":{"name":"a"}}'))).toMatchObject({
      status: 400,
      name: expect.anything(),
    });
    expect(({} as { name?: string }).name).toBeUndefined();
  });
});

describe("a large body", () => {
  const limit = 4 * 1024 * 1024;
  const detail = `The body has more than ${limit} bytes: post the artifacts in several manifests.`;

  test("is refused by its length without being read", async () => {
    const answer = await ask(posting.url, "/api/v1/package/", {
      method: "POST",
      headers: {
        authorization: basic,
        "content-type": "application/json",
        "content-length": `${limit + 1}`,
        connection: "close",
      },
      body: "",
    });
    expect(answerOf(answer)).toEqual({ status: 413, detail });
  });

  test("is counted without a length, and not read to its end", async () => {
    const { hostname, port } = new URL(posting.url);
    const headers = { authorization: basic, "content-type": "application/json" };
    const sent = httpRequest({
      hostname,
      port,
      path: "/api/v1/package/",
      method: "POST",
      headers,
      agent: false,
    });
    const ended = new Promise((resolve) => sent.on("close", resolve).on("error", resolve));
    const chunk = Buffer.alloc(64 * 1024, " ");
    const pour = () => {
      while (!sent.destroyed && sent.write(chunk)) {}
    };
    sent.on("drain", pour);
    const text = new Promise<string>((resolve, reject) => {
      sent.on("response", async (response) => {
        resolve(`${response.statusCode} ${Buffer.concat(await response.toArray())}`);
      });
      sent.on("error", reject);
    });
    pour();
    expect(await text).toBe(`413 ${JSON.stringify({ detail })}`);
    // This client never stops.
    await ended;
  });

  test("is read up to the limit, and can still have too many artifacts", async () => {
    const spaces = " ".repeat(limit - 2);
    expect((await posting.post(`${spaces}{}`)).status).toBe(400);
    expect((await posting.post(`${spaces} {}`)).status).toBe(413);
    const many = posted(...Array.from({ length: 28_000 }, (_, index) => rpm(`${index}.rpm`)));
    expect(answerOf(await posting.post(many))).toEqual({
      status: 413,
      detail: expect.stringMatching(
        /^The manifest would be stored in \d+ bytes, expected at most 4194304\.$/,
      ),
    });
    expect(answerOf(await posting.post(`[${"0,".repeat(300_000)}0]`))).toEqual({
      status: 413,
      detail: "the body contains more than 250000 values, expected fewer.",
    });
  });

  test("gets a bounded number of problems", async () => {
    const many = posted(
      ...Array.from({ length: 2000 }, (_, index) => rpm(`${index}.deb`, "a", { package_type: "deb" })),
    );
    const { non_field_errors, ...fields } = answerOf(await posting.post(many));
    expect(non_field_errors).toEqual(["There are 1500 more problems."]);
    expect(Object.keys(fields)).toHaveLength(501);
  });
});

test("other addresses do not accept POST", async () => {
  const headers = { authorization: basic };
  expect((await ask(posting.url, "/api/v1/", { method: "POST", headers })).status).toBe(405);
  expect((await ask(posting.url, "/api/v1/package/1/", { method: "POST", headers })).status).toBe(405);
});

test("no request of these tests caused a server error", () => {
  expect(posting.log.filter(({ event }) => event !== "request")).toEqual([]);
  expect(posting.said).toEqual([]);
});
