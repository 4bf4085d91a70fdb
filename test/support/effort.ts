const hasTime = process.env.RELCAT_ALL !== undefined || process.env.RELCAT_SLOW !== undefined;

/** The runs of a property: in `npm run test:all`, and in `npm test`. */
export const often = (all: number, few: number): number => (hasTime ? all : few);

/** All of a list, or every nth of them in `npm test`. @param first index of the first one */
export const some = <T>(all: readonly T[], every: number, first = 0): T[] =>
  all.filter((_, index) => (index - first) % often(1, every) === 0);
