/** Milliseconds that a publisher may be silent before another one may take the site over. */
export const lease = 120_000;

/**
 * The steps of a publisher, each named after what comes next. `sign` is a step of refresh and rollback alone,
 * and `prune-remove` happens only where something is removed.
 */
export const publishSteps = {
  dir: ["sign", "look", "begin", "place", "index", "flip", "finish", "prune"],
  s3: [
    "sign",
    "look",
    "begin",
    "put-immutable",
    "put-bundle",
    "put-index",
    "put-document",
    "put-timestamp",
    "clear",
    "remove",
    "put-etags",
    "finish",
    "prune",
    "prune-remove",
  ],
} as const;

export type PublishStep = (typeof publishSteps)["dir" | "s3"][number];

/** A publisher's right to change a site. It ends when another publisher takes the site over. */
export interface PublishTurn {
  /** Tells this run from all others. */
  run: string;
  /**
   * Extends the lease where a part of it has passed.
   * @param when "now": extend it in any case, before a change that cannot be undone
   * @throws RelcatError site-taken
   */
  renew(when?: "now"): Promise<void>;
  /** @param tag of the state as the site has it now @throws RelcatError site-taken if this publisher did not write it */
  requireOurs(tag: string | undefined): void;
  /** Announces a step, for tests that stop there. */
  step(name: PublishStep): Promise<void>;
}
