const { RELCAT_ALL, RELCAT_SLOW, RELCAT_NIGHTLY } = process.env;

export const isNightly = RELCAT_NIGHTLY !== undefined;
const hasAllCases = isNightly || RELCAT_ALL !== undefined || RELCAT_SLOW !== undefined;

/** Seed of random inputs: the one that .ci/nightly prints, or the same one in every other run. */
export const seed = Number(RELCAT_NIGHTLY ?? 20_261_126);

/** The runs of a property or the steps of a sweep: under .ci/nightly, and in any other run. */
export const often = (nightly: number, usual: number): number => (isNightly ? nightly : usual);

/** All of a list, or every nth of them in `npm test`. @param first index of the first one */
export const some = <T>(all: readonly T[], every: number, first = 0): T[] =>
  hasAllCases ? [...all] : all.filter((_, index) => (index - first) % every === 0);
