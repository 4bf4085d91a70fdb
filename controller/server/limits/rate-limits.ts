import { sql } from "kysely";
import type { Database } from "../store/schema.ts";

const minute = 60_000;

export interface Allowance {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Seconds until the window ends. */
  reset: number;
}

/** Quota that this process has reserved but not used. */
interface Usage {
  start: number;
  left: number;
  spent: number;
  /** The window's limit is reached for all processes. */
  isExhausted: boolean;
  /** Concurrent requests share a reservation. With one each, a few requests would reserve the whole limit. */
  more: Promise<void> | undefined;
}

/** Random addresses must not exhaust memory; evicted keys continue in the counters. */
const maxKeys = 20_000;

/** Enforces limits per minute; several processes together never exceed a limit. */
export class RateLimits {
  readonly #counters: Counters;
  readonly #usages = new Map<string, Usage>();

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** @param limit requests per minute; 0: unlimited */
  async spend(key: string, limit: number, now: number): Promise<Allowance> {
    const start = windowStart(minute, now);
    const reset = Math.ceil((start + minute - now) / 1000);
    if (limit === 0) return { allowed: true, limit, remaining: 0, reset };
    const usage = this.#usageOf(key, start);
    while (usage.left === 0 && !usage.isExhausted) {
      usage.more ??= this.#reserve(usage, key, limit, now).finally(() => {
        usage.more = undefined;
      });
      await usage.more;
    }
    if (usage.left === 0) return { allowed: false, limit, remaining: 0, reset };
    usage.left--;
    return { allowed: true, limit, remaining: Math.max(0, limit - ++usage.spent), reset };
  }

  /** Ordered by last use, so that eviction does not hit busy keys first. */
  #usageOf(key: string, start: number): Usage {
    const known = this.#usages.get(key);
    const usage =
      known?.start === start ? known : { start, left: 0, spent: 0, isExhausted: false, more: undefined };
    this.#usages.delete(key);
    if (this.#usages.size >= maxKeys) evictOldest(this.#usages, maxKeys);
    this.#usages.set(key, usage);
    return usage;
  }

  async #reserve(usage: Usage, key: string, limit: number, now: number): Promise<void> {
    const portion = this.#counters.portion(limit);
    const before = (await this.#counters.add(key, minute, now, portion)) - portion;
    usage.left += Math.max(0, Math.min(portion, limit - before));
    usage.isExhausted = before + portion >= limit;
    usage.spent = Math.max(usage.spent, Math.min(limit, before));
  }
}

/** Counters per time window, shared by all processes of one controller. */
export interface Counters {
  /** @returns the total in this window after adding */
  add(key: string, window: number, now: number, by?: number): Promise<number>;
  read(key: string, window: number, now: number): Promise<number>;
  /** Number to reserve at once, so that not every request queries the database. @param limit of the window */
  portion(limit: number): number;
}

const windowStart = (window: number, now: number): number => Math.floor(now / window) * window;

/** Random names must not exhaust memory. */
const maxCounters = 20_000;

export function localCounters(): Counters {
  const counts = new Map<string, { ends: number; count: number }>();
  const countOf = (key: string, now: number) => {
    const entry = counts.get(key);
    return entry && entry.ends > now ? entry.count : 0;
  };
  return {
    portion: () => 1,
    read: async (key, window, now) => countOf(`${window} ${key}`, now),
    async add(key, window, now, by = 1) {
      const name = `${window} ${key}`;
      const count = countOf(name, now) + by;
      counts.delete(name);
      if (counts.size >= maxCounters) makeRoom(counts, now);
      counts.set(name, { ends: windowStart(window, now) + window, count });
      return count;
    },
  };
}

/** Evicts expired counters, then the oldest. */
function makeRoom(counts: Map<string, { ends: number }>, now: number): void {
  for (const [key, { ends }] of counts) if (ends <= now) counts.delete(key);
  evictOldest(counts, maxCounters);
}

/** In batches, so that a flood rarely triggers it. */
function evictOldest(entries: Map<string, unknown>, most: number): void {
  for (const key of entries.keys()) {
    if (entries.size < most * 0.9) return;
    entries.delete(key);
  }
}

const forgetAfter = 3_600_000;

/** Stored in the database, because several processes share the limits. */
export function sharedCounters({ read, note }: Database): Counters {
  let cleared = 0;
  return {
    portion: (limit) => Math.max(1, Math.floor(limit / 20)),
    async read(key, window, now) {
      const row = await read
        .selectFrom("counters")
        .select("count")
        .where("key", "=", `${window} ${key}`)
        .where("window_start", "=", windowStart(window, now))
        .executeTakeFirst();
      return row?.count ?? 0;
    },
    async add(key, window, now, by = 1) {
      const start = windowStart(window, now);
      const { rows } = await sql<{ count: number }>`
        insert into counters as c (key, window_start, count) values (${`${window} ${key}`}, ${start}, ${by})
        on conflict (key, window_start) do update set count = c.count + ${by} returning count`.execute(read);
      const count = rows[0]?.count ?? by;
      if (now - cleared > forgetAfter) {
        cleared = now;
        await note((database) =>
          database
            .deleteFrom("counters")
            .where("window_start", "<", now - forgetAfter)
            .execute(),
        );
      }
      return count;
    },
  };
}

const groups = 8;

/** IPv6 addresses count by their first 64 bits: providers assign that much, enough for a new one per request. */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%", 1);
  if (!/^[0-9a-f:]*:[0-9a-f:]*$/i.test(plain)) return address;
  const [head = "", tail] = plain.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = (tail ?? "") === "" ? [] : (tail ?? "").split(":");
  const zeros = tail === undefined ? 0 : groups - first.length - last.length;
  const all = [...first, ...Array(Math.max(0, zeros)).fill("0"), ...last];
  if (all.length !== groups) return address;
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
