import { writeAs } from "../call.ts";
import type { Controller } from "../controller.ts";
import { networkOf } from "../limits/rate-limits.ts";
import { digestOf } from "../secrets.ts";
import type { Actor } from "../store/audit-log.ts";
import type { Failure } from "./authenticate.ts";

const window = 300_000;
/** Failures in five minutes per name and address, and per address. Per name alone, anyone could lock a user out. */
const maxFailures = { pair: 5, address: 50 };
/** Audit rows per minute for failures; further failures are counted, not recorded. */
const maxRecorded = 60;
const minute = 60_000;

type Attempt = [controller: Controller, name: string, remote: string, now: number];

/** @returns seconds to wait because of earlier failures; 0: none */
export const throttleOf = (...attempt: Attempt): Promise<number> => waitAfter("read", ...attempt);

/** @returns seconds to wait if this failure exceeds the limit; `throttleOf` cannot see concurrent attempts */
export const countFailure = (...attempt: Attempt): Promise<number> => waitAfter("add", ...attempt);

async function waitAfter(
  method: "read" | "add",
  ...[controller, name, remote, now]: Attempt
): Promise<number> {
  const { counters, pepper } = controller;
  const network = networkOf(remote);
  // Stored as a digest, because people type passwords into the name field by mistake.
  const pair = digestOf(pepper, "check", "fail", network, name);
  const [ofPair, ofAddress] = await Promise.all([
    counters[method](`fail ${pair}`, window, now),
    counters[method](`fail ${network}`, window, now),
  ]);
  // An attempt that is not counted yet may be the one too many.
  const next = method === "read" ? 1 : 0;
  if (ofPair + next <= maxFailures.pair && ofAddress + next <= maxFailures.address) return 0;
  return Math.ceil((window - (now % window)) / 1000);
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
