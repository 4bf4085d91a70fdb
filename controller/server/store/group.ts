import { setImmediate as otherEvents } from "node:timers/promises";
import { CompiledQuery, type Kysely } from "kysely";
import type { queue } from "../../../shared/queue.ts";
import type { Schema, Work } from "./schema.ts";

/** `sent` must be awaited before the commit is reported. It is in an object, because `await` would unwrap it. */
export type Transact = (
  work: (transaction: Kysely<Schema>) => Promise<{ sent: Promise<unknown> }>,
) => Promise<void>;

/** A writer's statements that were sent, and the function that gives it its result. */
interface Done {
  sent: Promise<unknown>;
  answer: () => void;
}

interface Writer {
  run: (transaction: Kysely<Schema>) => Promise<Done>;
  fail: (error: unknown) => void;
}

/** Milliseconds after which a transaction accepts no more writers, because other events wait meanwhile. */
const groupMilliseconds = 20;

/**
 * Group commit: waiting writers share one transaction and one disk sync. An error of one writer rolls back
 * only its own part; a failed commit fails all of them.
 * @param inTurn where writers of a process wait: SQLite's lock would block the event loop, PostgreSQL's hold a connection
 * @param duration milliseconds after which a transaction accepts no more writers
 */
export function grouped(
  inTurn: ReturnType<typeof queue>,
  transact: Transact,
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
      waiting.push({ run: (transaction) => runWriter(transaction, work, resolve), fail: reject });
      void inTurn(next);
    });
}

async function runWriter<T>(
  transaction: Kysely<Schema>,
  work: Work<T>,
  resolve: (result: T) => void,
): Promise<Done> {
  const statements: Promise<unknown>[] = [];
  const send = (statement: Promise<unknown>) => {
    // Awaited below or with the commit; an earlier failure is reported first.
    statement.catch(() => {});
    statements.push(statement);
  };
  const result = await work(transaction, send);
  const sent = Promise.all(statements);
  sent.catch(() => {});
  return { sent, answer: () => resolve(result) };
}

/** @param group writers of this transaction; writers that arrive in time are added */
async function inOne(
  transact: Transact,
  group: Writer[],
  waiting: Writer[],
  duration: number,
): Promise<(() => void)[]> {
  const answers: (() => void)[] = [];
  await transact(async (transaction) => {
    const end = performance.now() + duration;
    for (const [index, writer] of group.entries()) {
      const { sent, answer } = await (index === 0 ? writer.run(transaction) : apart(writer, transaction));
      answers.push(answer);
      // Nobody else is affected if the last statements of a single writer fail with the commit.
      if (index === 0 && waiting.length === 0) return { sent };
      await sent;
      if (performance.now() < end) group.push(...waiting.splice(0, 1));
    }
    return { sent: Promise.resolve() };
  });
  return answers;
}

const savepoint = CompiledQuery.raw("savepoint writer");
const takeBack = CompiledQuery.raw("rollback to savepoint writer");

/** The first writer needs no savepoint: it fails with the whole transaction, which nobody else shares yet. */
async function apart({ run, fail }: Writer, transaction: Kysely<Schema>): Promise<Done> {
  const begun = transaction.executeQuery(savepoint);
  begun.catch(() => {});
  try {
    const done = await run(transaction);
    await Promise.all([begun, done.sent]);
    return done;
  } catch (error) {
    await transaction.executeQuery(takeBack);
    return { sent: Promise.resolve(), answer: () => fail(error) };
  }
}

/**
 * Questions that arrive in one round of the event loop share one statement, because a statement costs as much as the rest of a request.
 * @param read returns the answers in the order of the questions
 */
export function batched<Question, Reply>(
  read: (questions: readonly Question[]) => Promise<readonly Reply[]>,
): (question: Question) => Promise<Reply> {
  let group: { questions: Question[]; replies: Promise<readonly Reply[]> } | undefined;
  const begin = () => {
    const questions: Question[] = [];
    const ask = () => {
      group = undefined;
      return read(questions);
    };
    return { questions, replies: otherEvents().then(ask) };
  };
  return async (question) => {
    group ??= begin();
    const index = group.questions.push(question) - 1;
    return (await group.replies)[index] as Reply;
  };
}
