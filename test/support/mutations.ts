import fc from "fast-check";

/** Mutations that make a valid file damaged or hostile. */
export type Mutation = (bytes: Buffer) => Buffer;

/** An offset in a file, as a share of its size. */
const place = fc.double({ min: 0, max: 1, noNaN: true });
const at = (bytes: Buffer, share: number) => Math.floor(share * bytes.length);

/** Critical lengths, counts and offsets, in both byte orders. */
const numbers = [
  "00000000",
  "ffffffff",
  "7fffffff",
  "80000000",
  "00010000",
  "00000100",
  "fffffffe",
  "308030803080",
];

const truncated = place.map(
  (share): Mutation =>
    (bytes) =>
      bytes.subarray(0, at(bytes, share)),
);

const overwritten = fc
  .tuple(
    place,
    fc.oneof(
      fc.constantFrom(...numbers).map((hex) => Buffer.from(hex, "hex")),
      fc.uint8Array({ minLength: 1, maxLength: 16 }),
    ),
  )
  .map(
    ([share, noise]): Mutation =>
      (bytes) => {
        const copy = Buffer.from(bytes);
        copy.set(noise.subarray(0, copy.length - at(bytes, share)), at(bytes, share));
        return copy;
      },
  );

const cutOrRepeated = fc.tuple(place, place).map(
  ([from, to]): Mutation =>
    (bytes) =>
      Buffer.concat([bytes.subarray(0, at(bytes, from)), bytes.subarray(at(bytes, to))]),
);

/** Copies a part of the file over another part. */
const moved = fc.tuple(place, place, fc.integer({ min: 1, max: 600 })).map(
  ([from, to, size]): Mutation =>
    (bytes) => {
      const copy = Buffer.from(bytes);
      bytes.copy(copy, at(bytes, to), at(bytes, from), at(bytes, from) + size);
      return copy;
    },
);

/** One to three changes to a file. */
export const mutations = (): fc.Arbitrary<Mutation> =>
  fc
    .array(
      fc.oneof(truncated, { weight: 4, arbitrary: overwritten }, cutOrRepeated, {
        weight: 2,
        arbitrary: moved,
      }),
      { minLength: 1, maxLength: 3 },
    )
    .map(
      (all): Mutation =>
        (bytes) =>
          all.reduce((changed, mutate) => mutate(changed), bytes),
    );
