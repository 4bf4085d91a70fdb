import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { repository } from "../support/run.ts";
import { type Answer, ask, idsOf, type Running, serveFolder, threeRecords } from "./origin.ts";

interface Recorded {
  case: string;
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  answer: {
    status: number;
    "content-type"?: string;
    allow?: string;
    vary?: string;
    location?: string;
    ids?: number[];
    json?: unknown;
  };
}

/** Answers of the framework that existing API clients expect, for three records with ids 1 to 3. */
const recorded: Recorded[] = JSON.parse(
  readFileSync(join(repository, "test/fixtures/http/framework.json"), "utf8"),
);

type Expected = Partial<Recorded["answer"]>;

const unavailable = { status: 406, "content-type": "application/json" } as const;
const html = { status: 200, "content-type": "text/html; charset=utf-8" } as const;
const listed = { status: 200, "content-type": "application/json" } as const;
const absent = { status: 404, "content-type": "application/json", json: { detail: "Not found." } } as const;

/** Answers of relcat that differ, with reasons. */
const differences: Record<string, { reason: string; answer: Expected }> = {
  "GET Accept: application/json;q=0.5,text/html;q=0.9": { reason: "weights count", answer: html },
  "GET Accept: application/json;q=0": {
    reason: "a weight of 0 refuses",
    answer: { ...unavailable, json: { detail: "Could not satisfy the request Accept header." } },
  },
  "?format=json beats Accept: text/html": { reason: "an explicit format wins over Accept", answer: listed },
  "?format=api with Accept: application/json": {
    reason: "an explicit format wins over Accept",
    answer: html,
  },
  "?format=json with Accept: application/xml": {
    reason: "an explicit format wins over Accept",
    answer: listed,
  },
  "OPTIONS ?format=api": { reason: "the description of an address is JSON", answer: listed },
  "OPTIONS Accept html": { reason: "the description of an address is JSON", answer: listed },
  FOO: {
    reason: "Node's HTTP parser does not know the method and cannot say for which address it came",
    answer: { status: 400, "content-type": "application/json", json: { detail: "Bad request." } },
  },
  "GET no trailing slash": { reason: "a redirect has no body to have a type", answer: { status: 301 } },
  "GET no trailing slash with query": {
    reason: "a redirect has no body to have a type",
    answer: { status: 301 },
  },
  "HEAD no trailing slash": { reason: "a redirect has no body to have a type", answer: { status: 301 } },
  "POST no trailing slash": { reason: "308 keeps the method and the body", answer: { status: 308 } },
  "OPTIONS no trailing slash": { reason: "308 keeps the method", answer: { status: 308 } },
  "detail route absent": { reason: "a record has its own address", answer: listed },
  "double slash": {
    reason: "such paths are refused: two servers in a row may read them differently",
    answer: { status: 400, "content-type": "application/json", json: { detail: "Bad request path." } },
  },
  case: { reason: "errors below /api/ are JSON", answer: absent },
  "format suffix .api": { reason: "the page's address is ?format=api", answer: absent },
  "format suffix .json": {
    reason: "this address has one representation and depends on no Accept",
    answer: listed,
  },
  "format suffix .bogus": { reason: "there is no such address, so nothing is negotiated", answer: absent },
  "unknown path": {
    reason: "the page says its character set",
    answer: { status: 404, "content-type": "text/html; charset=utf-8" },
  },
  "API root": {
    reason: "the address comes from base_url, never from the request",
    answer: { ...listed, json: { package: "http://127.0.0.1:8080/api/v1/package/" } },
  },
  "If-None-Match ignored (no ETag)": {
    reason: "answers have ETags, and * matches any of them",
    answer: { status: 304 },
  },
};

let running: Running;
beforeAll(async () => {
  running = await serveFolder((await threeRecords()).out);
});

/** By default the framework sorted by ascending ids, and the catalog sorts by descending versions. */
const ownOrder = [2, 3, 1];
const asked = ({ path }: Recorded) => /[?&]ordering=(?:[^&]*,)?(?:%20)?-?(?:id|version|created)\b/.test(path);

describe("the server answers as the framework did", () => {
  test.each(recorded.filter((row) => !(row.case in differences)).map((row) => [row.case, row] as const))(
    "%s",
    async (_, row) => {
      const answer = await replay(row);
      const { ids, ...rest } = row.answer;
      compare(answer, row, ids ? { ...rest, ids: asked(row) ? ids : ownOrder } : rest);
    },
  );
});

describe("the server differs from the framework for a reason", () => {
  test.each(Object.entries(differences).map(([name, { reason, answer }]) => [name, reason, answer] as const))(
    "%s: %s",
    async (name, _, expected) => {
      const row = recorded.find((each) => each.case === name);
      if (!row) throw new Error(`${name} is not recorded`);
      compare(await replay(row), row, expected);
    },
  );
});

test("the documentation has every reason", () => {
  const page = readFileSync(join(repository, "docs/compatibility.md"), "utf8").toLowerCase();
  const internal = ["a redirect has no body to have a type", "the page says its character set"];
  const reasons = Object.values(differences).map(({ reason }) => reason);
  const missing = reasons.filter(
    (reason) => !internal.includes(reason) && !page.includes(reason.toLowerCase()),
  );
  expect(missing).toEqual([]);
});

/** The recorded resource has a field `created`, where records have `created_date`. */
const replay = ({ method, path, headers, body }: Recorded) =>
  ask(running.url, path.replace("ordering=-created", "ordering=-created_date"), {
    method,
    headers: headers ?? {},
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });

function compare(answer: Answer, { method, answer: original }: Recorded, expected: Expected): void {
  const { headers } = answer;
  expect(answer.status).toBe(expected.status);
  if (expected["content-type"]) expect(headers["content-type"]).toBe(expected["content-type"]);
  // Answers of the collection itself: Allow and Vary.
  if (original.allow?.includes("POST") && expected.status !== 304 && answer.status < 500 && headers.allow) {
    expect(headers.allow).toBe("GET, POST, HEAD, OPTIONS");
  }
  if (expected.vary) expect(headers.vary).toMatch(/^Accept(,|$)/);
  if (expected.location) expect(headers.location).toBe(expected.location);
  if (method === "HEAD") expect(answer.text).toBe("");
  else if (expected.ids) expect(idsOf(answer)).toEqual(expected.ids);
  if (expected.json && method === "OPTIONS") {
    expect(Object.keys(JSON.parse(answer.text))).toEqual(["name", "description", "renders", "parses"]);
  } else if (expected.json) expect(JSON.parse(answer.text)).toEqual(expected.json);
}
