import { createHash } from "node:crypto";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ArtifactStore } from "../../pipeline/documents/object-store.ts";
import { openS3Store } from "../../pipeline/publish/stores/s3-store.ts";
import type { RetryPolicy } from "../../pipeline/system/network/fetch.ts";
import type { RelcatError } from "../../shared/errors.ts";
import { some } from "../support/effort.ts";
import type { Stored } from "../support/s3-bucket.ts";
import { type Fault, type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import {
  bytesOf,
  headers,
  headersOf,
  type LocalFile,
  smallParts,
  storeConformance,
  textFile,
} from "./store-conformance.ts";

let fake: S3Fake;
beforeAll(async () => {
  fake = await startS3Fake();
  fake.bucket.minPartBytes = smallParts.partBytes;
  Object.assign(process.env, fake.environment);
});
afterAll(() => fake.stop());

let prefixes = 0;

/** Short time limits, because the faults of these tests are immediate. */
const patience = { silence: 5_000, attempts: 5, pause: 1 };

const open = () =>
  openS3Store({ ...fake.place, prefix: `p${++prefixes}/` }, {}, patience, smallParts.partBytes);

describe("a bucket", () => storeConformance(open, true, smallParts.large));

test("lists more than a thousand objects over several pages", async () => {
  const store = await open();
  const keys = Array.from({ length: 2_500 }, (_, index) => `pages/${String(index).padStart(5, "0")}`);
  for (const key of keys)
    fake.bucket.objects.set(`p${prefixes}/${key}`, { bytes: Buffer.from("x"), etag: "e", headers: {} });
  expect((await Array.fromAsync(store.list("pages/"))).map(({ key }) => key)).toEqual(keys);
  expect(store.requests()).toBe(3);
  await store.remove(keys);
  expect(store.requests()).toBe(6);
  expect(await Array.fromAsync(store.list(""))).toEqual([]);
});

/** Store operations of publishing, each tested with every fault. */
const actions: Readonly<
  Record<string, { act: (store: ArtifactStore) => Promise<unknown>; result: unknown }>
> = {
  get: { act: (store) => store.get("there"), result: expect.objectContaining({ bytes: bytesOf("there") }) },
  head: { act: (store) => store.head("there"), result: expect.objectContaining({ size: 5 }) },
  put: { act: (store) => store.put("new", bytesOf("new"), headers), result: { etag: expect.any(String) } },
  "put what is not there": {
    act: (store) => store.put("new", bytesOf("new"), headers, { ifNoneMatch: "*" }),
    result: { etag: expect.any(String) },
  },
  "put what was read": {
    act: async (store) => store.put("new", bytesOf("new"), headers, { ifMatch: old.etag }),
    result: { etag: expect.any(String) },
  },
  remove: { act: (store) => store.remove(["new"]), result: undefined },
  list: {
    act: async (store) => (await Array.fromAsync(store.list("there"))).map(({ key }) => key),
    result: ["there"],
  },
  "upload a file": {
    act: (store) => store.uploadFile("file", small.path, headersOf(small)),
    result: expect.stringMatching(/^(uploaded|present)$/),
  },
};
const old = { bytes: Buffer.from("old"), etag: createHash("md5").update("old").digest("hex"), headers: {} };
let small: LocalFile;
beforeAll(() => {
  small = textFile("package");
});

/** A store with one object, and one for actions that replace an object. */
async function prepared(action: string, patience: RetryPolicy) {
  const prefix = `p${++prefixes}/`;
  const there = createHash("md5").update("there").digest("hex");
  fake.bucket.objects.set(`${prefix}there`, { bytes: Buffer.from("there"), etag: there, headers: {} });
  if (action === "put what was read" || action === "remove") fake.bucket.objects.set(`${prefix}new`, old);
  const store = await openS3Store({ ...fake.place, prefix }, {}, patience);
  return {
    prefix,
    store,
    bytes: (key: string) => fake.bucket.objects.get(`${prefix}${key}`)?.bytes.toString(),
  };
}

const faults: readonly [Fault, reason: RegExp][] = [
  [
    { status: 500, code: "InternalError" },
    /the service answered 500( InternalError, InternalError was asked for\.)?/,
  ],
  [{ status: 503, code: "SlowDown" }, /the service answered 503( SlowDown, SlowDown was asked for\.)?/],
  [{ status: 429, code: "TooManyRequests" }, /the service answered 429( TooManyRequests, .*)?/],
  [
    { status: 409, code: "ConditionalRequestConflict" },
    /the service answered 409( ConditionalRequestConflict, .*)?/,
  ],
  ["reset", /socket hang up|read ECONNRESET/],
  ["reset after", /socket hang up|read ECONNRESET/],
  ["silence", /no answer came in time/],
];
const hasty = { silence: 500, attempts: 3, pause: 1 };
/** Waits long for slow answers of a busy machine, except if the fault is silence. */
const patienceUnder = (fault: Fault) => (fault === "silence" ? hasty : { ...hasty, silence: 30_000 });

describe.each(Object.entries(actions))("%s", (name, { act, result }) => {
  // Each action meets some of the faults, and each fault some of the actions.
  const tried = some(faults, 3, Object.keys(actions).indexOf(name) % 3);
  test.each(tried)("is repeated after the single fault %j, with the correct result", async (fault) => {
    const { store, bytes } = await prepared(name, patienceUnder(fault));
    const hit = new Set<string>();
    fake.fault = ({ operation }) => (hit.has(operation) || !hit.add(operation) ? undefined : fault);
    expect(await act(store)).toEqual(result);
    fake.fault = () => undefined;
    expect(store.requests()).toBeGreaterThanOrEqual(2);
    expect(bytes("there")).toBe("there");
    if (name.startsWith("put")) expect(bytes("new")).toBe("new");
    if (name === "remove") expect(bytes("new")).toBeUndefined();
    if (name.startsWith("upload")) expect(bytes("file")).toBe("package");
  });

  test.each(tried)(
    "fails after the permanent fault %j, and names the object and the reason",
    async (fault, reason) => {
      const { store, prefix } = await prepared(name, patienceUnder(fault));
      fake.fault = () => fault;
      const failed = await act(store).then(
        (value) => Promise.reject(new Error(`succeeded with ${JSON.stringify(value)}`)),
        (error: RelcatError) => error,
      );
      fake.fault = () => undefined;
      expect(failed).toMatchObject({ code: "network", exitStatus: 5 });
      expect(failed.message).toMatch(
        new RegExp(
          `^network: s3://site/${prefix}(there|new|file) cannot be (read|written|removed|listed): (${reason.source}) \\(3 tries\\)$`,
        ),
      );
      expect(store.requests()).toBe(3);
    },
  );
});

describe("if the service cannot remove one of two objects, the other is removed, and", () => {
  async function removing(code: string, work: (store: ArtifactStore, prefix: string) => Promise<unknown>) {
    const { store, prefix, bytes } = await prepared("remove", hasty);
    const { undeletable } = fake.bucket;
    undeletable.set(`${prefix}new`, code);
    await work(store, prefix);
    undeletable.clear();
    expect(bytes("there")).toBeUndefined();
    return bytes("new");
  }
  const both = ["there", "new"];

  test("an error names the object if the service refuses it", async () => {
    await removing("AccessDenied", (store, prefix) =>
      expect(store.remove(both)).rejects.toMatchObject({
        code: "storage-refused",
        message: `storage-refused: s3://site/${prefix}new may not be removed: the service answered AccessDenied`,
      }),
    );
  });

  test.each(["InternalError", "SlowDown", "ServiceUnavailable"])(
    "the request is repeated after %s",
    async (code) => {
      const left = await removing(code, async (store, prefix) => {
        let times = 1;
        fake.before = () => void (times-- > 0 || fake.bucket.undeletable.delete(`${prefix}new`));
        await store.remove(both);
        fake.before = () => {};
      });
      expect(left).toBeUndefined();
    },
  );

  test("nothing is reported if the object was missing", () =>
    removing("NoSuchKey", (store) => store.remove(both)));
});

test("a truncated answer is requested again and not used", async () => {
  const { store } = await prepared("get", hasty);
  for (const ask of [() => store.get("there"), () => Array.fromAsync(store.list(""))]) {
    let times = 1;
    fake.fault = () => (times-- > 0 ? "truncated" : undefined);
    expect(JSON.stringify(await ask())).toContain(ask.toString().includes("list") ? "there" : "bytes");
    fake.fault = () => "truncated";
    await expect(ask()).rejects.toMatchObject({ code: "network" });
    fake.fault = () => undefined;
  }
});

test("a repeated write that finds other bytes did not succeed", async () => {
  const { store, prefix, bytes } = await prepared("put", hasty);
  let times = 1;
  fake.fault = () => (times-- > 0 ? { status: 500, code: "InternalError" } : undefined);
  fake.before = () => void fake.bucket.objects.set(`${prefix}new`, old);
  expect(await store.put("new", bytesOf("new"), headers, { ifNoneMatch: "*" })).toBe("changed");
  fake.before = () => {};
  expect(bytes("new")).toBe("old");
});

test("bytes that were damaged in the store are an error", async () => {
  const { store, prefix } = await prepared("get", hasty);
  const there = fake.bucket.objects.get(`${prefix}there`);
  fake.bucket.objects.set(`${prefix}there`, { ...(there as Stored), bytes: Buffer.from("thexe") });
  await expect(store.get("there")).rejects.toThrow(
    `network: s3://site/${prefix}there cannot be read: the answer has other bytes than were stored (3 tries)`,
  );
});

const refusals: readonly [code: string, status: number, hint: string][] = [
  [
    "AccessDenied",
    403,
    "Let these credentials read, write, list and remove objects there, or correct the site in catalog.yaml.",
  ],
  ["ExpiredToken", 400, "The credentials have expired: sign in again, or start the job again."],
  [
    "InvalidAccessKeyId",
    403,
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, to credentials that the service accepts.",
  ],
  ["NoSuchBucket", 404, "Create the bucket, or correct url of the site in catalog.yaml."],
  ["PermanentRedirect", 301, "Set region and endpoint of the site in catalog.yaml to where the bucket is."],
  ["NotImplemented", 501, "This service lacks a required feature: conditional writes, at least."],
];
test.each(refusals)("%s is reported immediately, with a hint", async (code, status, hint) => {
  for (const [name, { act }] of Object.entries(actions)) {
    if (name === "head" && status === 404) continue; // Without a body it is a missing object.
    const { store } = await prepared(name, hasty);
    // An answer to HEAD has no body with the code, unlike the write after it.
    fake.fault = ({ operation }) =>
      operation === "HeadObject" && name !== "head" ? undefined : { status, code };
    const failed: RelcatError = await act(store).then(
      () => expect.fail(name),
      (error) => error,
    );
    fake.fault = () => undefined;
    expect(failed, name).toMatchObject({ code: "storage-refused", exitStatus: 4 });
    if (name === "head") continue;
    expect(failed.problems[0]?.message).toMatch(/^s3:\/\/site\/p\d+\/(there|new|file) may not be /);
    expect(failed.problems[0]?.message).toContain(`the service answered ${status} ${code}`);
    expect(failed.problems[0]?.hint).toBe(hint);
  }
});

test("a wrong clock is corrected by the service's time, once", async () => {
  fake.clockOffset = 3 * 3_600_000;
  const { store } = await prepared("get", hasty);
  expect((await store.get("there"))?.bytes).toEqual(bytesOf("there"));
  expect(store.requests()).toBe(2);
  expect(await store.head("there")).toMatchObject({ size: 5 });
  expect(store.requests()).toBe(3);
  fake.clockOffset = 0;
  fake.fault = () => ({ status: 403, code: "RequestTimeTooSkewed" });
  const failed: RelcatError = await store.get("there").then(
    () => expect.fail(),
    (error) => error,
  );
  fake.fault = () => undefined;
  expect(failed).toMatchObject({
    code: "storage-refused",
    problems: [{ hint: "Set the clock of this machine." }],
  });
});

describe("the store refuses incomplete settings:", () => {
  test.each([
    [
      { region: undefined },
      "usage: nothing says which region s3://site is in",
      "Set region of the site in catalog.yaml, or AWS_REGION; for services without regions, use us-east-1.",
    ],
    [
      { endpoint: "minio:9000" },
      "usage: the endpoint of s3://site is minio:9000, expected an http or https address",
      "For example: https://s3.example.com, as endpoint of the site in catalog.yaml; credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    ],
    [
      { endpoint: "https://me:hidden@s3.example.com" },
      "usage: the endpoint of s3://site is an address with credentials, expected an http or https address",
      "For example: https://s3.example.com, as endpoint of the site in catalog.yaml; credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    ],
  ])("%j", async (change, message, hint) => {
    const failed: RelcatError = await openS3Store({ ...fake.place, ...change }, {}, hasty).then(
      () => expect.fail(),
      (error) => error,
    );
    expect(failed.message).toBe(message);
    expect(failed.problems[0]?.hint).toBe(hint);
  });

  test("region and endpoint can come from the environment", async () => {
    const place = { ...fake.place, region: undefined, endpoint: undefined };
    const store = await openS3Store(
      place,
      { AWS_REGION: "us-east-1", AWS_ENDPOINT_URL_S3: fake.endpoint },
      hasty,
    );
    expect(await store.get("nothing")).toBeUndefined();
  });
});

test("no error contains signature data of the request", async () => {
  const { store } = await prepared("get", hasty);
  for (const fault of [{ status: 403, code: "SignatureDoesNotMatch" }, "reset", "truncated"] as const) {
    fake.fault = () => fault;
    const failed = await store.get("there").then(
      () => expect.fail(),
      (error: unknown) => error,
    );
    const shown = inspect(failed, { depth: 20, showHidden: true });
    expect(shown).not.toMatch(/fake\/secret|FAKEID|AWS4-HMAC|Signature=/);
  }
  fake.fault = () => undefined;
});

test("a key that is too long with the prefix of the site is refused before it is sent", async () => {
  const store = await open();
  const before = fake.log.length;
  const refusal = {
    code: "path-format",
    message: expect.stringContaining(" bytes with the prefix of the site, "),
  };
  await expect(store.head("x".repeat(1024))).rejects.toMatchObject(refusal);
  await expect(store.put("x".repeat(1024), bytesOf("x"), headers)).rejects.toMatchObject(refusal);
  await expect(store.remove(["x".repeat(1024)])).rejects.toMatchObject(refusal);
  expect(fake.log.length).toBe(before);
});
