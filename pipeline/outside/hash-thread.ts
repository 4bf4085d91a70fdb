import { parentPort } from "node:worker_threads";
import { RelcatError } from "../errors.ts";
import { type HashReply, type HashTask, hashFile } from "./hash-file.ts";

/** Bytes between two words of how far it is: as many as are hashed in a hundredth of a second. */
const step = 16 * 2 ** 20;

const reply = (message: HashReply) => parentPort?.postMessage(message);

/** Hashes the files that are sent, one at a time. */
parentPort?.on("message", async ({ path, pace }: HashTask) => {
  let told = 0;
  const tell = (done: number) => {
    reply({ bytes: done - told });
    told = done;
  };
  try {
    const onBytes = (done: number, total: number) => {
      if (done === total || done - told >= step) tell(done);
    };
    const measure = await hashFile(path, onBytes, pace);
    reply({ measure });
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
    reply({ problems: error.problems });
  }
});
