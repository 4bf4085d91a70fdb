import { Worker } from "node:worker_threads";

/** A worker thread that answers one job after another. It keeps the process alive only while it works. */
export interface Thread {
  /** @throws Error as the job threw it, with its code */
  ask(job: unknown): Promise<unknown>;
}

/**
 * Starts a thread.
 * @param program JavaScript that defines `answer(job)`, which may be asynchronous. It is a text, because the
 * bundle, the compiled files and the sources would each need another path to a file.
 */
export function startThread(program: string): Thread {
  const worker = new Worker(`${program}${loop}`, { eval: true, execArgv: [] });
  const waiting: { resolve(answer: unknown): void; reject(error: Error): void }[] = [];
  worker.on("message", ({ answer, failure }) => {
    const job = waiting.shift();
    if (waiting.length === 0) worker.unref();
    if (failure) job?.reject(Object.assign(new Error(failure.message), failure));
    else job?.resolve(answer);
  });
  worker.on("error", (error: Error) => {
    for (const job of waiting.splice(0)) job.reject(error);
  });
  return {
    ask(job) {
      worker.ref();
      worker.postMessage(job);
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
  };
}

const loop = `
const { parentPort } = process.getBuiltinModule("node:worker_threads");
let last;
parentPort.on("message", (job) => {
  const previous = last;
  last = (async () => {
    await previous;
    try {
      parentPort.postMessage({ answer: await answer(job) });
    } catch (error) {
      // A copy of an error has no code.
      parentPort.postMessage({ failure: { ...error, message: error.message } });
    }
  })();
});
`;
