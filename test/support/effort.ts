const hasTime = process.env.RELCAT_ALL !== undefined || process.env.RELCAT_SLOW !== undefined;

/** How often a property is tried: in every run but `npm test`, and there. */
export const often = (all: number, few: number): number => (hasTime ? all : few);

/** All of a list, in `npm test` every so many of them. @param first index of the first one */
export const some = <T>(all: readonly T[], every: number, first = 0): T[] =>
  all.filter((_, index) => (index - first) % often(1, every) === 0);
