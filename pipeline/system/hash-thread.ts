import { type HashTask, hashFile, type Measure } from "./hash-file.ts";
import { answerAsThread } from "./second-thread.ts";

/** Bytes between two words of how far it is: as many as are hashed in a hundredth of a second. */
const step = 16 * 2 ** 20;

/** Hashes the files that are sent, one at a time. */
answerAsThread<undefined, HashTask, Measure, number>((_, say) => async ({ path, pace }) => {
  let told = 0;
  const onBytes = (done: number, total: number) => {
    if (done !== total && done - told < step) return;
    say(done - told);
    told = done;
  };
  return { answer: await hashFile(path, onBytes, pace) };
});
