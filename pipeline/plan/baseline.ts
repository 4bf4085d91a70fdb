import type { Config } from "../documents/config.ts";
import type { Plan } from "../documents/plan.ts";
import type { Snapshot } from "./snapshot.ts";

/** SHA-256 of each file of a site, by path. */
export type DocumentHashes = ReadonlyMap<string, string>;

/** What a catalog is compared with. */
export interface Baseline {
  kind: Plan["baseline"]["kind"];
  /** The revision, URL, folder or file, as people named it. */
  name: string;
  commit: string | null;
  snapshot: Snapshot;
  /** Its key names inside `data`. */
  wire: Config["wire"];
  /** Its configuration and ledger, where it is a whole catalog. */
  config?: Config;
  ledger?: string;
  /** Versions that it shows as provisional: nothing of them was promised to last. */
  provisional: ReadonlySet<string>;
  /** undefined when nobody can tell. */
  documents: DocumentHashes | undefined;
  /** Errors that keep parts of it from being read; those parts show as added. */
  problems: number;
}
