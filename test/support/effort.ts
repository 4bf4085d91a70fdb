const { RELCAT_ALL, RELCAT_SLOW, RELCAT_NIGHTLY } = process.env;

export const isNightly = RELCAT_NIGHTLY !== undefined;
/** `npm run test:all`, or the slow suite. */
const isGate = RELCAT_ALL !== undefined || RELCAT_SLOW !== undefined;

/** Seed of random inputs: the one that .ci/nightly prints, or the same one in every other run. */
export const seed = Number(RELCAT_NIGHTLY ?? 20_261_126);

/** The runs of a property, the steps of a sweep or the cases of a matrix: under .ci/nightly, and in any other run. */
export const often = <T>(nightly: T, usual: T): T => (isNightly ? nightly : usual);

/**
 * The rows of a matrix that are tried in one of its columns. Outside .ci/nightly, each row is tried in one column, the
 * first row in the first one, and so on.
 */
export const inTurn = <T>(rows: readonly T[], column: number, columns: number): T[] =>
  rows.filter((_, row) => isNightly || row % columns === column);

/**
 * Every nth of a list in `npm test`, three times as many in the gate, and all under .ci/nightly.
 * @param first index of the first one
 */
export function some<T>(all: readonly T[], every: number, first = 0): T[] {
  const step = isNightly ? 1 : isGate ? Math.ceil(every / 3) : every;
  return all.filter((_, index) => (index - first) % step === 0);
}
