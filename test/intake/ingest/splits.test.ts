import fc from "fast-check";
import { expect, test } from "vitest";
import { manifestSchema, type WrittenArtifact } from "../../../pipeline/documents/manifest.ts";
import { readBytes } from "../../../pipeline/project/parse.ts";
import { normalizeRelease } from "../../../pipeline/records/normalize.ts";
import { artifact, config } from "../../ledger/in-memory.ts";
import { often } from "../../support/effort.ts";

const version = "26.08.002";

/** A job's manifest in a release, parsed as every command does. */
function manifestOf(artifacts: readonly WrittenArtifact[], job: number) {
  const text = JSON.stringify({ release: version, artifacts });
  const { document, problems } = readBytes(`${job}.json`, new TextEncoder().encode(text), manifestSchema);
  if (!document) throw new Error(problems.map(({ message }) => message).join("\n"));
  return document;
}

/** The release that results from these jobs. */
function merged(jobs: readonly (readonly WrittenArtifact[])[]) {
  const manifests = jobs.map(manifestOf);
  const parsed = { version, folder: version, release: undefined, notes: [], manifests, problems: [] };
  const { release, problems } = normalizeRelease(parsed, config);
  // Only the location of an artifact may differ.
  const artifacts = release.artifacts.map(({ place: _, origin: _origin, ...facts }) => facts);
  return { ...release, artifacts, problems };
}

const release = fc.uniqueArray(
  fc.record({
    written: artifact,
    number: fc.nat({ max: 30 }),
    expected_hash: fc.option(fc.constantFrom("A".repeat(64), "B".repeat(64))),
  }),
  { selector: ({ number }) => number, minLength: 1, maxLength: 12 },
);
const artifacts = release.map((list) =>
  list.map(({ written, number, expected_hash }) => ({
    ...written,
    file: `${number}.bin`,
    ...(expected_hash && { attestation: { cryptolib_post: { expected_hash } } }),
  })),
);

/** Artifacts and their jobs: each is in one job at least, some in several or twice in one. */
const splitRelease = artifacts.chain((list) =>
  fc.record({
    list: fc.constant(list),
    jobs: fc
      .tuple(
        fc.shuffledSubarray(list, { minLength: list.length }),
        fc.array(fc.constantFrom(...list), { maxLength: 6 }),
        fc.infiniteStream(fc.nat({ max: 5 })),
      )
      .map(([all, again, job]) => {
        const jobs: WrittenArtifact[][] = Array.from({ length: 6 }, () => []);
        for (const each of [...all, ...again]) jobs[job.next().value ?? 0]?.push(each);
        return jobs;
      }),
  }),
);

test("a release is the same for any split of its artifacts into jobs, in any order and with repeats", {
  tags: ["long"],
}, () => {
  fc.assert(
    fc.property(splitRelease, ({ list, jobs }) => {
      const whole = merged([list]);
      expect(whole.artifacts).toHaveLength(list.length);
      expect(whole.problems).toEqual([]);
      expect(merged(jobs)).toEqual(whole);
    }),
    { numRuns: often(10_000, 1000) },
  );
});
