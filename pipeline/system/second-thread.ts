import { setImmediate } from "node:timers/promises";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { type Problem, RelcatError } from "../errors.ts";

/** A worker thread for one kind of task, one at a time. */
export interface SecondThread<Work, Answer> {
  /** @param work plain data @throws RelcatError with the problems that it met */
  ask(work: Work): Promise<Answer>;
  /** Terminates it, even during a task. */
  stop(): Promise<void>;
}

type Message<Answer, Word> =
  | { word: Word }
  | { piece: number; answer: Answer }
  | { piece: number; problems: readonly Problem[] };

/**
 * @param program a module that calls `answerAsThread`
 * @param setting plain data that all tasks share
 * @param hear receives the thread's messages before its answer; an exception ends the task
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
      // Prevents an unhandled rejection if the caller stops waiting.
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

/** An answer, with the buffers to transfer. */
export interface Said<Answer> {
  answer: Answer;
  handedOver?: readonly ArrayBuffer[];
}

/**
 * Main function of a worker thread.
 * @param open creates the handler from the shared data; `say` sends messages before the answer
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

/** Tasks queued at the other thread, so that it never waits. */
const ahead = 3;

/**
 * Two threads process a list from both ends until they meet.
 * @returns all results in the order of the list
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
    // Lets answers arrive between two items.
    await setImmediate();
  }
  for (const result of asked.reverse()) yield await result;
}

/** The next `count` items from the end, without those before `from`. */
const lastOf = <Item>(items: readonly Item[], from: number, taken: number, count: number): Item[] =>
  items.slice(Math.max(from, items.length - taken - Math.max(count, 0)), items.length - taken).reverse();
