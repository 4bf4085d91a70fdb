/** Lease in milliseconds: after this time without renewal, another publisher may take over the site. */
export const lease = 120_000;

/** Steps are named after what comes next. `sign` occurs only in refresh and rollback, `prune-remove` if there is something. */
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

/** A publisher's lease on a site. It ends when another publisher takes over. */
export interface PublishTurn {
  /** Id of this run. */
  run: string;
  /**
   * Extends the lease after part of it has passed.
   * @param when "now": before a change that cannot be undone, even if the lease is young
   * @throws RelcatError site-taken
   */
  renew(when?: "now"): Promise<void>;
  /** @param tag of the current state @throws RelcatError site-taken if this publisher did not write it */
  requireOurs(tag: string | undefined): void;
  /** Announces a step, so that tests can interrupt there. */
  step(name: PublishStep): Promise<void>;
}
