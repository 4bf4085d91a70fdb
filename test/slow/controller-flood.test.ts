import { randomUUID } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { localCounters, RateLimits } from "../../controller/server/limits/rate-limits.ts";
import { pour, request, talk } from "../controller/hostile-support.ts";
import { basic, type DatabaseKind, newDatabase, testController } from "../controller/support.ts";
import { webApp } from "../controller/web.ts";
import { often } from "../support/effort.ts";

/** PostgreSQL counts in the database with three queries for each miss, and this process needs no memory. */
const floods: [DatabaseKind, attempts: number][] = often(
  [
    ["sqlite", 100_000],
    ["postgres", 10_000],
  ],
  [["sqlite", 20_000]],
);
const together = 50;
const megabyte = 1024 * 1024;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

function memoryInUse(): NodeJS.MemoryUsage {
  collectGarbage();
  return process.memoryUsage();
}
const heapInUse = () => memoryInUse().heapUsed;

test.each(floods)(
  "a flood of random keys from many addresses keeps memory flat, and locks no user out (%s)",
  async (kind, attempts) => {
    const limits = { key: 6000, address: 1_000_000, enrol: 120, login: 30 };
    const { controller, makeKey } = await testController({
      database: await newDatabase(kind),
      settings: { limits },
    });
    const key = await makeKey(["devices:read", "audit:read"]);
    const app = webApp(controller);
    const ask = (remote: string, headers: Record<string, string>, path = "/api_keys/me") =>
      app(new Request(`http://127.0.0.1/-net/api/v0${path}`, { headers }), { remote, secure: true });
    const statuses = new Map<number, number>();
    const guess = async (attempt: number) => {
      // One half is from one address, the other half from different networks.
      const [high, low] = [attempt >> 16, attempt & 0xffff].map((part) => part.toString(16));
      const remote = attempt % 2 === 0 ? "203.0.113.7" : `2001:db8:${high}:${low}::1`;
      const { status } = await ask(remote, basic(randomUUID(), `rck_${randomUUID()}`));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    };
    const flood = async (from: number, to: number) => {
      for (let first = from; first < to; first += together)
        await Promise.all(Array.from({ length: together }, (_, index) => guess(first + index)));
    };
    await flood(0, attempts / 2);
    const before = heapInUse();
    await flood(attempts / 2, attempts);
    expect(heapInUse() - before).toBeLessThan(4 * megabyte);

    expect([...statuses.keys()].toSorted()).toEqual([401, 429]);
    expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBe(attempts);
    expect((await ask("203.0.113.7", key.headers)).status).toBe(200);
    expect((await ask("2001:db8::1", key.headers)).status).toBe(200);
    // Rows left by a flood are limited too.
    const logged = await ask("127.0.0.1", key.headers, "/audit_log?code=auth.failed&limit=1000");
    const { audit_log } = JSON.parse(await logged.text());
    expect(audit_log).toHaveLength(60);
  },
);

test("large bodies without credentials leak no memory after a hundred requests", async () => {
  const { url } = await testController();
  const lines = ["POST /-net/api/v0/device/state HTTP/1.1", "Host: x", "Content-Type: application/json"];
  const large = request([...lines, `Content-Length: ${10 * megabyte}`]);
  const flood = () =>
    Promise.all(Array.from({ length: 50 }, () => talk(url, (socket) => pour(socket, large, 160))));
  /** Bodies are outside the heap. */
  const inUse = () => {
    const { heapUsed, external } = memoryInUse();
    return heapUsed + external;
  };
  await flood();
  const before = inUse();
  const answers = await flood();
  // Unused buffers are freed after a while.
  await expect.poll(() => inUse() - before).toBeLessThan(20 * megabyte);
  expect(answers.flatMap(({ statuses }) => statuses)).toEqual(Array.from({ length: 50 }, () => 401));
});

test("rate counters need no more memory for 200,000 random addresses than for a few", async () => {
  const rates = new RateLimits(localCounters());
  const flood = async (from: number) => {
    for (let index = from; index < from + 100_000; index++)
      await rates.spend(`address 2001:db8::${index.toString(16)}`, 1000, 0);
    return heapInUse();
  };
  const [some, more] = [await flood(0), await flood(100_000)];
  expect(more - some).toBeLessThan(2_000_000);
});
