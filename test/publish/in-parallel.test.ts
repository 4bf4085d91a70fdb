import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { inParallel, readFilesAtOnce } from "../../pipeline/system/in-parallel.ts";

const numbers = Array.from({ length: 20 }, (_, index) => index);

test("results are in the order of the items, with any number under way", async () => {
  let [busy, most] = [0, 0];
  const doubled = await inParallel(numbers, 3, async (number) => {
    most = Math.max(most, ++busy);
    for (let turns = number % 4; turns >= 0; turns--) await turn();
    busy--;
    return number * 2;
  });
  expect(doubled).toEqual(numbers.map((number) => number * 2));
  expect(most).toBe(3);
  expect(await inParallel([], 3, async () => 1)).toEqual([]);
});

test("after a failure no more work is started, and started work finishes", async () => {
  const [begun, ended]: [number[], number[]] = [[], []];
  const work = inParallel(numbers, 3, async (number) => {
    begun.push(number);
    await turn();
    if (number === 4) throw new Error("the fourth");
    await turn();
    if (number === 5) throw new Error("the fifth");
    ended.push(number);
  });
  await expect(work).rejects.toThrow("the fourth");
  expect(begun.length).toBeLessThan(8);
  expect(ended).toEqual(begun.filter((number) => number !== 4 && number !== 5));
});

test("the largest files are read first, and results are in the order of the files", async () => {
  const files = [3, 9, 1, 9, 4].map((size, index) => ({ name: `${index}`, size }));
  const [begun, progress]: [string[], number[]] = [[], []];
  const onProgress = ({ done }: { done: number }) => void progress.push(done);
  const names = await readFilesAtOnce(files, { jobs: 1, onProgress }, async ({ name }) => {
    begun.push(name);
    return name;
  });
  expect(names).toEqual(["0", "1", "2", "3", "4"]);
  expect(begun).toEqual(["1", "3", "4", "0", "2"]);
  expect(progress).toEqual([9, 18, 22, 25, 26]);
});
