import fc from "fast-check";
import { expect, test } from "vitest";
import { extend, placesOf, type Run, runsSource, sizeOf } from "../../inspect/bytes/byte-runs.ts";
import { bytesSource } from "../../inspect/bytes/byte-source.ts";

const whole = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
const run = fc.record({ from: fc.nat(200), size: fc.integer({ min: 1, max: 50 }) });
const joined = (runs: readonly Run[]) =>
  Buffer.concat(runs.map(({ from, size }) => whole.subarray(from, from + size)));

test("separate parts of a file are read as one", async () => {
  const range = fc.tuple(fc.nat(400), fc.nat(400));
  await fc.assert(
    fc.asyncProperty(fc.array(run, { maxLength: 20 }), range, async (parts, [one, other]) => {
      const runs: Run[] = [];
      for (const { from, size } of parts) extend(runs, from, size);
      const expected = Buffer.concat(parts.map(({ from, size }) => whole.subarray(from, from + size)));
      expect(joined(runs)).toEqual(expected);
      expect(sizeOf(runs)).toBe(expected.length);

      const [from, to] = [
        Math.min(one, other, expected.length),
        Math.min(Math.max(one, other), expected.length),
      ];
      const source = runsSource(bytesSource(whole), runs, "joined");
      expect(Buffer.from(source.read(from, to - from))).toEqual(expected.subarray(from, to));
      expect(joined(placesOf(runs, from, to))).toEqual(expected.subarray(from, to));

      const chunks: Buffer[] = [];
      await source.each((chunk, at) => {
        expect(at).toBe(chunks.reduce((sum, { length }) => sum + length, 0));
        chunks.push(Buffer.from(chunk));
      });
      expect(Buffer.concat(chunks)).toEqual(expected);
    }),
  );
});

test("a read beyond the last part fails", () => {
  const runs: Run[] = [];
  extend(runs, 10, 5);
  const source = runsSource(bytesSource(whole), runs, "joined");
  expect(() => source.read(3, 3)).toThrow("joined ends at byte 5, expected 3 bytes from 3 on");
});

test("adjacent runs are merged", () => {
  const runs: Run[] = [];
  extend(runs, 10, 5);
  extend(runs, 15, 5);
  extend(runs, 0, 5);
  expect(runs).toEqual([
    { from: 10, size: 10, start: 0 },
    { from: 0, size: 5, start: 10 },
  ]);
});
