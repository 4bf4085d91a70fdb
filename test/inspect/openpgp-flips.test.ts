import { basename } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Keys } from "../../inspect/keys.ts";
import { allowedKeys, bytesOf, inspectArtifact, optionsFor } from "../support/artifacts.ts";
import { unnoticedBits } from "../support/bit-flips.ts";
import { often } from "../support/effort.ts";
import { goodCases } from "./openpgp-readers.ts";

let keys: Keys;
beforeAll(async () => {
  keys = await allowedKeys();
});

const titled = goodCases.map((artifact) => [artifact.file, artifact] as const);

describe("inspect notices every changed bit that the format signs, in", () => {
  const sample = often(600, 40);
  test.each(titled)(
    "%s",
    async (file, { read }) => {
      const options = optionsFor(file, keys);
      expect(await unnoticedBits(read, bytesOf(file), options, sample, basename(file))).toEqual([]);
    },
    3_600_000,
  );
});

test.each(titled)(
  "every unsigned range of %s is inside the file, and they are less than a fifth of it besides reserved space",
  async (file, { read }) => {
    const { length } = bytesOf(file);
    const { uncovered } = await inspectArtifact(read, file, keys);
    for (const { from, to } of uncovered) expect(from >= 0 && from < to && to <= length).toBe(true);
    const counted = uncovered.filter(({ why }) => !/fs-verity|reserved space/.test(why));
    expect(counted.reduce((sum, { from, to }) => sum + to - from, 0)).toBeLessThan(length / 5);
  },
);
