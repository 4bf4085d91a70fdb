import { sql } from "kysely";
import type { Database } from "../store/schema.ts";

/** Counters per time window, shared by all processes of one controller. */
export interface Counters {
  /** @returns the total in this window after adding */
  add(key: string, window: number, now: number, by?: number): Promise<number>;
  read(key: string, window: number, now: number): Promise<number>;
  /** Number to reserve at once, so that not every request queries the database. @param limit of the window */
  portion(limit: number): number;
}

export const windowStart = (window: number, now: number): number => Math.floor(now / window) * window;

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

/** Evicts expired counters, then the oldest; in batches, so that a flood rarely triggers it. */
function makeRoom(counts: Map<string, { ends: number }>, now: number): void {
  for (const [key, { ends }] of counts) if (ends <= now) counts.delete(key);
  for (const key of counts.keys()) {
    if (counts.size < maxCounters * 0.9) return;
    counts.delete(key);
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
