import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { Uncovered } from "../../inspect/bytes/byte-source.ts";
import type { Keys } from "../../inspect/keys.ts";
import { allowedKeys, bytesOf, inspectBytes, optionsWith } from "../support/artifacts.ts";
import { often } from "../support/effort.ts";
import { mutations } from "../support/mutations.ts";
import { cases, titled } from "./cms-readers.ts";

const numRuns = often(4000, 50);

let keys: Keys;
beforeAll(async () => {
  keys = await allowedKeys();
});

describe("a mutated file gets a verdict, and ok only if its signed parts are unchanged", () => {
  test.each(titled(cases))(
    "%s",
    async (file, { read }) => {
      const original = bytesOf(file);
      const { uncovered, verdict: before } = await inspectBytes(read, original, optionsWith(keys));
      // Unsigned free sectors and a notary's ticket may be appended.
      const covered = (bytes: Buffer, added: readonly Uncovered[] = []) => {
        const copy = Buffer.from(bytes);
        for (const { from, to } of uncovered) copy.fill(0, from, to);
        for (const { from, to } of added)
          copy.fill(0, Math.max(from, original.length), Math.max(to, original.length));
        return Buffer.concat([copy, Buffer.alloc(Math.max(0, 4 * original.length - copy.length))]).toString(
          "latin1",
        );
      };
      await fc.assert(
        fc.asyncProperty(mutations(), async (mutate) => {
          const bytes = mutate(original);
          const { verdict, reason, uncovered } = await inspectBytes(read, bytes, optionsWith(keys));
          if (verdict !== "ok") expect(reason).not.toBe("");
          else if (before !== "ok" || covered(bytes, uncovered) !== covered(original))
            expect.unreachable(`ok for bytes that nobody signed: ${bytes.toString("base64")}`);
        }),
        { numRuns },
      );
    },
    600_000,
  );
});
