import { Worker } from "node:worker_threads";

export type Thread = ReturnType<typeof startThread>;

/**
 * Starts a thread that answers one job after another. It keeps the process alive only while it works.
 * @param program JavaScript that defines `answer(job)`, which may be asynchronous. It is a text, because the
 * bundle, the compiled files and the sources would each need another path to a file.
 */
export function startThread(program: string) {
  // A thread works on memory outside of V8's heap. Without a limit, the young part of its heap grows to 20 MB.
  const resourceLimits = { maxYoungGenerationSizeMb: 4 };
  const worker = new Worker(`${program}${loop}`, { eval: true, execArgv: [], resourceLimits });
  const waiting: { resolve(answer: unknown): void; reject(error: Error): void }[] = [];
  let ended: Error | undefined;
  const end = (error: Error) => {
    ended ??= error;
    for (const job of waiting.splice(0)) job.reject(ended);
  };
  worker.on("message", ({ answer, failure }) => {
    const job = waiting.shift();
    if (waiting.length === 0) worker.unref();
    if (failure) job?.reject(Object.assign(new Error(failure.message), failure));
    else job?.resolve(answer);
  });
  worker.on("error", end);
  worker.on("exit", (code) => end(new Error(`a thread of relcat's ended with exit code ${code}`)));
  // After the listeners, because one for messages keeps the process alive.
  worker.unref();
  return {
    hasEnded: () => ended !== undefined,
    /** @throws Error as the job threw it, with its code; or that the thread has ended */
    async ask(job: unknown): Promise<unknown> {
      if (ended) throw ended;
      worker.postMessage(job);
      worker.ref();
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
    } catch ({ message, code, syscall, path }) {
      // A copy of an error has no code.
      parentPort.postMessage({ failure: { message, code, syscall, path } });
    }
  })();
});
`;
