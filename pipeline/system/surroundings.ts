/** What the commands take from the process they run in. */
export interface Surroundings {
  /** Milliseconds since 1970. */
  clock: number;
  pid: number;
  /** A time the user gave instead of the clock's, and what gave it (--now, SOURCE_DATE_EPOCH). */
  explicitTime?: { name: string; value: string } | undefined;
  /** Called once when another relcat holds the folder; 0 when its process id is not known. */
  onWait: (holder: number) => void;
}
