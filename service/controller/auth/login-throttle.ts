import type { Actor } from "../audit/audit-log.ts";
import { writeAs } from "../call.ts";
import type { Controller } from "../controller.ts";
import { networkOf } from "../limits/networks.ts";
import type { Failure } from "./authenticate.ts";
import { digestOf, type Pepper } from "./secrets.ts";

const window = 300_000;
/** Failures in five minutes: of one name from one address, and from one address. Never of a name alone. */
const most = { pair: 5, address: 50 };
/** Rows in a minute that tell of failures; beyond them a flood is counted, not written down. */
const mostTold = 60;
const minute = 60_000;

/** By digest: in the place of a name people type passwords too. */
function keysOf(pepper: Pepper, name: string, remote: string) {
  const network = networkOf(remote);
  return {
    pair: `fail ${digestOf(pepper, "check", "fail", network, name)}`,
    address: `fail ${network}`,
  };
}

/** Whether failures before this one make it wait. @returns seconds to wait; 0: none */
export async function brakeOf(
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
  return ofPair < most.pair && ofAddress < most.address ? 0 : untilNext(now);
}

/** Seconds until counting begins anew. */
const untilNext = (now: number): number => Math.ceil((window - (now % window)) / 1000);

/**
 * Counts a failure. Those that succeed are never counted.
 * @returns seconds to wait, where it is one too many: `brakeOf` knows nothing of those that are tried at once
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
  return ofPair <= most.pair && ofAddress <= most.address ? 0 : untilNext(now);
}

/** Puts a failure into the audit log, with why; what a client said in place of an id or a password never. */
export async function tellFailure(
  controller: Controller,
  { failure, id, kind = "key" }: { failure: Failure; id?: string; kind?: "key" | "user" },
  caller: Pick<Actor, "ip" | "request">,
  now: number,
): Promise<void> {
  const told = await controller.counters.add("told failures", minute, now);
  if (told > mostTold) return;
  const actor: Actor = { kind: "nobody", id: null, name: null, ...caller };
  const more = told === mostTold ? { more: "further failures of this minute are not written down" } : {};
  await writeAs(controller, actor, now, async ({ record }) => {
    record({
      code: "auth.failed",
      ...(id && { target: { kind, id } }),
      after: { reason: failure, ...more },
    });
  });
}
