export interface CommandContext {
  /** Milliseconds since 1970. */
  clock: number;
  pid: number;
  /** A time given by the user, and its source (--now, SOURCE_DATE_EPOCH). */
  explicitTime?: { name: string; value: string } | undefined;
  /** Decide and check everything, and write nothing. */
  dryRun?: boolean | undefined;
  /** Called once if another relcat holds the lock; 0: its process id is unknown. */
  onWait: (holder: number) => void;
}
