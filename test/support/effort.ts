const { RELCAT_ALL, RELCAT_SLOW, RELCAT_NIGHTLY } = process.env;

export const isNightly = RELCAT_NIGHTLY !== undefined;
const hasAllCases = isNightly || RELCAT_ALL !== undefined || RELCAT_SLOW !== undefined;

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

/** All of a list, or every nth of them in `npm test`. @param first index of the first one */
export const some = <T>(all: readonly T[], every: number, first = 0): T[] =>
  hasAllCases ? [...all] : all.filter((_, index) => (index - first) % every === 0);
