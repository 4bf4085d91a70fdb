import { setImmediate as otherEvents } from "node:timers/promises";
import { CompiledQuery, type Kysely } from "kysely";
import type { queue } from "./queue.ts";
import type { Schema } from "./schema.ts";

type Work<T> = (transaction: Kysely<Schema>) => Promise<T>;

interface Writer {
  /** @returns a function that reports the outcome to the writer */
  run: Work<() => void>;
  fail: (error: unknown) => void;
}

/** Milliseconds after which a transaction accepts no more writers, because other events wait meanwhile. */
const groupMilliseconds = 20;

/**
 * Group commit: waiting writers share one transaction and one disk sync. An error of one writer rolls back
 * only its own part; a failed commit fails all of them.
 * @param duration milliseconds after which a transaction accepts no more writers
 */
export function grouped(
  inTurn: ReturnType<typeof queue>,
  transact: (work: Work<void>) => Promise<void>,
  duration = groupMilliseconds,
): <T>(work: Work<T>) => Promise<T> {
  const waiting: Writer[] = [];
  async function next(): Promise<void> {
    if (waiting.length > 0) await otherEvents();
    const group = waiting.splice(0, 1);
    if (group.length === 0) return;
    try {
      const answers = await inOne(transact, group, waiting, duration);
      for (const each of answers) each();
    } catch (error) {
      for (const { fail } of group) fail(error);
    }
  }
  return (work) =>
    new Promise((resolve, reject) => {
      waiting.push({ run: apart(work, resolve, reject), fail: reject });
      void inTurn(next);
    });
}

/** @param group writers of this transaction; writers that arrive in time are added */
async function inOne(
  transact: (work: Work<void>) => Promise<void>,
  group: Writer[],
  waiting: Writer[],
  duration: number,
): Promise<(() => void)[]> {
  const answers: (() => void)[] = [];
  await transact(async (transaction) => {
    const end = performance.now() + duration;
    for (const { run } of group) {
      answers.push(await run(transaction));
      if (performance.now() < end) group.push(...waiting.splice(0, 1));
    }
  });
  return answers;
}

const savepoint = CompiledQuery.raw("savepoint writer");
const takeBack = CompiledQuery.raw("rollback to savepoint writer");

const apart =
  <T>(work: Work<T>, resolve: (result: T) => void, reject: (error: unknown) => void): Writer["run"] =>
  async (transaction) => {
    await transaction.executeQuery(savepoint);
    try {
      const result = await work(transaction);
      return () => resolve(result);
    } catch (error) {
      await transaction.executeQuery(takeBack);
      return () => reject(error);
    }
  };
