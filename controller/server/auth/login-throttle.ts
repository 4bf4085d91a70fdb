import { writeAs } from "../call.ts";
import type { Controller } from "../controller.ts";
import { networkOf } from "../limits/networks.ts";
import { digestOf, type Pepper } from "../secrets.ts";
import type { Actor } from "../store/audit-log.ts";
import type { Failure } from "./authenticate.ts";

const window = 300_000;
/**
 * Login throttle: failures in five minutes per name and address, and per address.
 * Failures are never counted per name alone, because anyone could then lock a user out.
 */
const maxFailures = { pair: 5, address: 50 };
/** Audit rows per minute for failures; further failures are counted, not recorded. */
const maxRecorded = 60;
const minute = 60_000;

/** Stored as digests, because people type passwords into the name field by mistake. */
function keysOf(pepper: Pepper, name: string, remote: string) {
  const network = networkOf(remote);
  return {
    pair: `fail ${digestOf(pepper, "check", "fail", network, name)}`,
    address: `fail ${network}`,
  };
}

/** @returns seconds to wait because of earlier failures; 0: none */
export async function throttleOf(
  { counters, pepper }: Controller,
  name: string,
  remote: string,
  now: number,
): Promise<number> {
  const { pair, address } = keysOf(pepper, name, remote);
  const [ofPair, ofAddress] = await Promise.all([
    counters.read(pair, window, now),
    counters.read(address, window, now),
  ]);
  return ofPair < maxFailures.pair && ofAddress < maxFailures.address ? 0 : untilNext(now);
}

/** Seconds until the next window. */
const untilNext = (now: number): number => Math.ceil((window - (now % window)) / 1000);

/**
 * Counts a failure; successful attempts are never counted.
 * @returns seconds to wait if the limit is exceeded; `throttleOf` cannot see concurrent attempts
 */
export async function countFailure(
  { counters, pepper }: Controller,
  name: string,
  remote: string,
  now: number,
): Promise<number> {
  const { pair, address } = keysOf(pepper, name, remote);
  const [ofPair, ofAddress] = await Promise.all([
    counters.add(pair, window, now),
    counters.add(address, window, now),
  ]);
  return ofPair <= maxFailures.pair && ofAddress <= maxFailures.address ? 0 : untilNext(now);
}

/** Records a failure and its reason in the audit log, but never the id or password that the client sent. */
export async function recordFailure(
  controller: Controller,
  { failure, id, kind = "key" }: { failure: Failure; id?: string; kind?: "key" | "user" },
  caller: Pick<Actor, "ip" | "request">,
  now: number,
): Promise<void> {
  const count = await controller.counters.add("recorded failures", minute, now);
  if (count > maxRecorded) return;
  const actor: Actor = { kind: "nobody", id: null, name: null, ...caller };
  const more = count === maxRecorded ? { more: "further failures in this minute are not recorded" } : {};
  await writeAs(controller, actor, now, async ({ record }) => {
    record({
      code: "auth.failed",
      ...(id && { target: { kind, id } }),
      after: { reason: failure, ...more },
    });
  });
}
