import { type Counters, windowStart } from "./counters.ts";

const minute = 60_000;

/** Remaining quota. */
export interface Allowance {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Seconds until the window ends. */
  reset: number;
}

/** Quota that this process has reserved but not used. */
interface Taken {
  start: number;
  left: number;
  spent: number;
  /** The window's limit is reached for all processes. */
  isExhausted: boolean;
  /** Concurrent requests share a reservation. With one each, a few requests would reserve the whole limit. */
  more: Promise<void> | undefined;
}

/** Random addresses must not exhaust memory; evicted keys continue in the counters. */
const mostKeys = 20_000;

/** Enforces limits per minute; several processes together never exceed a limit. */
export class RateLimits {
  readonly #counters: Counters;
  readonly #taken = new Map<string, Taken>();

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** @param limit requests per minute; 0: unlimited */
  async spend(key: string, limit: number, now: number): Promise<Allowance> {
    const start = windowStart(minute, now);
    const reset = Math.ceil((start + minute - now) / 1000);
    if (limit === 0) return { allowed: true, limit, remaining: 0, reset };
    const taken = this.#takenOf(key, start);
    while (taken.left === 0 && !taken.isExhausted) {
      taken.more ??= this.#take(taken, key, limit, now).finally(() => {
        taken.more = undefined;
      });
      await taken.more;
    }
    if (taken.left === 0) return { allowed: false, limit, remaining: 0, reset };
    taken.left--;
    return { allowed: true, limit, remaining: Math.max(0, limit - ++taken.spent), reset };
  }

  /** Ordered by last use, so that eviction does not hit busy keys first. */
  #takenOf(key: string, start: number): Taken {
    const known = this.#taken.get(key);
    const taken =
      known?.start === start ? known : { start, left: 0, spent: 0, isExhausted: false, more: undefined };
    this.#taken.delete(key);
    if (this.#taken.size >= mostKeys) this.#makeRoom();
    this.#taken.set(key, taken);
    return taken;
  }

  #makeRoom(): void {
    for (const oldest of this.#taken.keys()) {
      if (this.#taken.size < mostKeys * 0.9) return;
      this.#taken.delete(oldest);
    }
  }

  async #take(taken: Taken, key: string, limit: number, now: number): Promise<void> {
    const portion = this.#counters.portion(limit);
    const before = (await this.#counters.add(key, minute, now, portion)) - portion;
    taken.left += Math.max(0, Math.min(portion, limit - before));
    taken.isExhausted = before + portion >= limit;
    taken.spent = Math.max(taken.spent, Math.min(limit, before));
  }
}
