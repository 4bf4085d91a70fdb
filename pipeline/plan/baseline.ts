import type { Config } from "../documents/config.ts";
import type { Plan } from "../documents/plan.ts";
import type { Snapshot } from "./snapshot.ts";

/** SHA-256 of each file of a site, by path. */
export type DocumentHashes = ReadonlyMap<string, string>;

/** The published state that a plan is compared with. */
export interface Baseline {
  kind: Plan["baseline"]["kind"];
  /** Revision, URL, folder or file, as the user named it. */
  name: string;
  commit: string | null;
  snapshot: Snapshot;
  /** Its key names inside `data`. */
  wire: Config["wire"];
  /** Configuration and ledger, if it is a complete catalog. */
  config?: Config;
  ledger?: string;
  /** Provisional versions, whose content was not permanent. */
  provisional: ReadonlySet<string>;
  /** undefined: unknown. */
  documents: DocumentHashes | undefined;
  /** Number of errors that hide parts of it; these parts appear as added. */
  problems: number;
}
