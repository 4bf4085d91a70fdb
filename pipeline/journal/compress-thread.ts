import { join } from "node:path";
import { answerAsThread } from "../system/second-thread.ts";
import { collectMuch } from "./heap.ts";
import { type CompressSetting, type CompressTask, claims } from "./precompress.ts";
import { writeSibling } from "./siblings.ts";

/** Writes the siblings that nobody else has begun. */
answerAsThread<CompressSetting, CompressTask[], void>(({ folder, work, claimed }) => {
  const claim = claims(claimed);
  return async (tasks) => {
    for (const { index, sibling } of tasks) {
      if (claim(index)) await writeSibling(folder, join(work, `encoded-${index}`), sibling);
      // What was compressed is held by next to no objects: V8 would see no reason to collect.
      collectMuch(4 << 20);
    }
    return { answer: undefined };
  };
});
