import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { Keys } from "../../inspect/keys.ts";
import { allowedKeys, bytesOf, inspectArtifact } from "../support/artifacts.ts";
import { often } from "../support/effort.ts";
import { type Case, cases, goodCases } from "./openpgp-readers.ts";

const numRuns = often(2000, 80);

let keys: Keys;
beforeAll(async () => {
  keys = await allowedKeys();
});

type Mutation = (bytes: Buffer) => Buffer;

/** A share of the file. Some of it remains, because a complete replacement could be valid. */
const place = fc.double({ min: 0.02, max: 1, noNaN: true });
const at = (bytes: Buffer, share: number) => Math.floor(share * bytes.length);

/** Critical mutations for parsers: extreme numbers, and parts that are missing, repeated or from elsewhere. */
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  place.map(
    (share): Mutation =>
      (bytes) =>
        bytes.subarray(0, at(bytes, share)),
  ),
  fc
    .tuple(
      place,
      fc.constantFrom("00000000", "ffffffff", "7fffffff", "80000000", "00010000", "39393939", "20200a0a"),
    )
    .map(
      ([share, hex]): Mutation =>
        (bytes) =>
          Buffer.concat([
            bytes.subarray(0, at(bytes, share)),
            Buffer.from(hex, "hex"),
            bytes.subarray(at(bytes, share) + 4),
          ]),
    ),
  fc.tuple(place, place).map(
    ([from, to]): Mutation =>
      (bytes) =>
        Buffer.concat([bytes.subarray(0, at(bytes, from)), bytes.subarray(at(bytes, to))]),
  ),
  fc.tuple(place, fc.uint8Array({ minLength: 1, maxLength: 64 })).map(
    ([share, noise]): Mutation =>
      (bytes) =>
        Buffer.concat([bytes.subarray(0, at(bytes, share)), noise, bytes.subarray(at(bytes, share))]),
  ),
  fc.constantFrom(...cases).map(
    ({ file }): Mutation =>
      (bytes) =>
        Buffer.concat([bytes, bytesOf(file)]),
  ),
);

/** Line feeds mean nothing inside an armored signature. */
function withoutLines(bytes: Buffer): string {
  const [text, ...armored] = bytes.toString("latin1").split("-----BEGIN PGP SIGNATURE-----");
  return [text, ...armored.map((lines) => lines.replaceAll("\n", ""))].join();
}

describe("a mutated file gets a verdict, and never ok for unsigned content", () => {
  test.each(goodCases.map((artifact) => [artifact.file, artifact] as const))(
    "%s",
    async (file, { read }: Case) => {
      const original = bytesOf(file);
      const before = await inspectArtifact(read, file, keys, original);
      const coveredWith = (bytes: Buffer, { uncovered }: typeof before) => {
        const copy = Buffer.from(bytes);
        // A mutation can rename a tag of an rpm's header. Nothing covers its data then, and the verdict says so.
        const renamed = uncovered.filter(({ why }) => why === "a tag that relcat does not know");
        for (const { from, to } of [...before.uncovered, ...renamed]) copy.fill(0, from, to);
        // The line feed of a text's last line is optional.
        return copy.toString("latin1").replace(/\n+$/, "");
      };
      await fc.assert(
        fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async (mutations) => {
          const bytes = mutations.reduce((changed, mutate) => mutate(changed), original);
          const after = await inspectArtifact(read, file, keys, bytes);
          if (after.verdict !== "ok") expect(after.reason).not.toBe("");
          else if (withoutLines(bytes) !== withoutLines(original))
            expect(coveredWith(bytes, after)).toBe(coveredWith(original, after));
        }),
        { numRuns },
      );
    },
    600_000,
  );
});
