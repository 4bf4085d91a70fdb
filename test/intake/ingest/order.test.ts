import fc from "fast-check";
import { expect, test } from "vitest";
import { RelcatError } from "../../../shared/errors.ts";
import { often } from "../../support/effort.ts";
import { image, ingest, ingestImage } from "./ingesting.ts";

const job = [
  "nix-build/array.json",
  "nix-path-info/map.json",
  "nix-path-info/version-3.json",
  "narinfo/unsigned.narinfo",
  "nix-derivation/wrapped-4.json",
  "nix-flake/clean.json",
  image.file,
];
const clients = ["2004_core", "2004_gui", "2204_core", "2204_gui"].map(
  (variant) => `plain/client_${variant}_amd64.deb`,
);
const release = ["plain/client-x86_64.rpm", "finished/manifest.json", "goreleaser/output", ...clients];

const ordersOf = (inputs: string[]) =>
  fc.tuple(
    fc.shuffledSubarray(inputs, { minLength: inputs.length }),
    fc.array(fc.constantFrom(...inputs), { maxLength: 3 }),
  );

test("any order of inputs, with repeats, gives the same bytes under the same name", async () => {
  const [imageJob, clientJob] = [await ingestImage(job), await ingest(release)];
  const orders = fc.tuple(ordersOf(job), ordersOf(release));
  await fc.assert(
    fc.asyncProperty(orders, async ([[images, moreImages], [files, moreFiles]]) => {
      const first = await ingestImage([...images, ...moreImages]);
      expect([first.text, first.fileName]).toEqual([imageJob.text, imageJob.fileName]);
      const second = await ingest([...files, ...moreFiles]);
      expect([second.text, second.fileName, second.leftOut]).toEqual([
        clientJob.text,
        clientJob.fileName,
        clientJob.leftOut,
      ]);
    }),
    { numRuns: often(60, 12) },
  );
});

test("any order of contradicting inputs gives the same problems", async () => {
  const inputs = [
    image.file,
    "nix-build/several.json",
    "nix-path-info/map.json",
    "nix-path-info/other-size.json",
    "nix-derivation/other.json",
    "plain/empty/client.rpm",
  ];
  const complaints = async (order: string[]) => {
    const error = await ingestImage(order).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof RelcatError)) throw error;
    return error.problems.map(({ code, message, at }) => JSON.stringify([code, message, at])).sort();
  };
  const expected = await complaints(inputs);
  expect(expected.length).toBeGreaterThan(1);
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(inputs, { minLength: inputs.length }), async (order) => {
      expect(await complaints(order)).toEqual(expected);
    }),
    { numRuns: often(60, 12) },
  );
});
