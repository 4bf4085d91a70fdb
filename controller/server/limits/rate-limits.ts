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
    if (this.#usages.size >= maxKeys) this.#makeRoom();
    this.#usages.set(key, usage);
    return usage;
  }

  #makeRoom(): void {
    for (const oldest of this.#usages.keys()) {
      if (this.#usages.size < maxKeys * 0.9) return;
      this.#usages.delete(oldest);
    }
  }

  async #reserve(usage: Usage, key: string, limit: number, now: number): Promise<void> {
    const portion = this.#counters.portion(limit);
    const before = (await this.#counters.add(key, minute, now, portion)) - portion;
    usage.left += Math.max(0, Math.min(portion, limit - before));
    usage.isExhausted = before + portion >= limit;
    usage.spent = Math.max(usage.spent, Math.min(limit, before));
  }
}
