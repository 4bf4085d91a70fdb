import { setImmediate } from "node:timers/promises";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { type Problem, RelcatError } from "../errors.ts";

/** A thread that does one kind of work, a piece at a time, beside this one. */
export interface SecondThread<Work, Answer> {
  /** @param work plain data @throws RelcatError with the problems that it met */
  ask(work: Work): Promise<Answer>;
  /** Ends it, whatever it is at. */
  stop(): Promise<void>;
}

type Message<Answer, Word> =
  | { word: Word }
  | { piece: number; answer: Answer }
  | { piece: number; problems: readonly Problem[] };

/**
 * @param program a module that calls `answerAsThread`
 * @param setting plain data, what all pieces of work have in common
 * @param hear called with what the thread says before it answers; what it throws ends the work
 */
export function startThread<Work, Answer, Word = never>(
  program: URL,
  setting: unknown,
  hear: (word: Word) => void = () => {},
): SecondThread<Work, Answer> {
  const worker = new Worker(program, { workerData: setting });
  const asked = new Map<number, PromiseWithResolvers<Answer>>();
  let pieces = 0;
  let ended: { error: unknown } | undefined;
  const fail = (error: unknown) => {
    ended ??= { error };
    for (const answer of asked.values()) answer.reject(error);
  };
  const listen = (message: Message<Answer, Word>) => {
    if ("word" in message) return hear(message.word);
    const answer = asked.get(message.piece);
    asked.delete(message.piece);
    if ("answer" in message) answer?.resolve(message.answer);
    else answer?.reject(new RelcatError(message.problems));
  };
  worker.on("message", (message: Message<Answer, Word>) => {
    try {
      listen(message);
    } catch (error) {
      fail(error);
    }
  });
  worker.once("error", fail);
  worker.once("exit", () => fail(new Error("the thread has ended before its work was done")));
  return {
    ask(work) {
      if (ended) return Promise.reject(ended.error);
      const answer = Promise.withResolvers<Answer>();
      // Who stops waiting for it must not be ended by it.
      answer.promise.catch(() => {});
      asked.set(pieces, answer);
      worker.postMessage({ piece: pieces++, work });
      return answer.promise;
    },
    async stop() {
      await worker.terminate();
    },
  };
}

/** What a thread says, and the buffers that it leaves to who asked. */
export interface Said<Answer> {
  answer: Answer;
  handedOver?: readonly ArrayBuffer[];
}

/**
 * The whole program of a thread.
 * @param open makes what answers, of what all pieces of work have in common; `say` reaches who asked before the answer
 */
export function answerAsThread<Setting, Work, Answer, Word = never>(
  open: (setting: Setting, say: (word: Word) => void) => (work: Work) => Promise<Said<Answer>>,
): void {
  const answerTo = open(workerData as Setting, (word) => parentPort?.postMessage({ word }));
  parentPort?.on("message", async ({ piece, work }: { piece: number; work: Work }) => {
    try {
      const { answer, handedOver = [] } = await answerTo(work);
      parentPort?.postMessage({ piece, answer }, [...handedOver]);
    } catch (error) {
      if (!(error instanceof RelcatError)) throw error;
      parentPort?.postMessage({ piece, problems: error.problems });
    }
  });
}

/** Pieces of work that lie ready at the other thread: enough that it never waits for this one's. */
const ahead = 3;

/**
 * Two threads take a list from its two ends until they meet.
 * @returns all results, in the list's order
 */
export async function* fromBothEnds<Item, Result>(
  items: readonly Item[],
  here: (item: Item) => Result | Promise<Result>,
  there: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const asked: Promise<Result>[] = [];
  let answered = 0;
  for (let index = 0; index + asked.length < items.length; index++) {
    for (const item of lastOf(items, index + 1, asked.length, ahead - (asked.length - answered))) {
      const result = there(item);
      result.then(
        () => answered++,
        () => {},
      );
      asked.push(result);
    }
    yield await here(items[index] as Item);
    // Answers come in between two turns.
    await setImmediate();
  }
  for (const result of asked.reverse()) yield await result;
}

/** The next `count` items from the end, as far as those before `from` are not reached. */
const lastOf = <Item>(items: readonly Item[], from: number, taken: number, count: number): Item[] =>
  items.slice(Math.max(from, items.length - taken - Math.max(count, 0)), items.length - taken).reverse();
