import { type HashTask, hashFile, type Measure } from "./hash-file.ts";
import { answerAsThread } from "./second-thread.ts";

/** Bytes between progress messages, about a hundredth of a second of hashing. */
const step = 16 * 2 ** 20;

answerAsThread<undefined, HashTask, Measure, number>((_, say) => async ({ path, pace }) => {
  let told = 0;
  const onBytes = (done: number, total: number) => {
    if (done !== total && done - told < step) return;
    say(done - told);
    told = done;
  };
  return { answer: await hashFile(path, onBytes, pace) };
});
