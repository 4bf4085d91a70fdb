import type { Ledger } from "../ledger/ledger.ts";
import type { Selection } from "../ledger/load-catalog.ts";
import type { AuthoredFiles } from "../project/authored-files.ts";
import type { BuiltSite } from "./built-site.ts";

/** Releases that are built, and how many there are. */
export interface BuildProgress {
  done: number;
  total: number;
}

/** The input and output of one build. */
export interface BuildRequest {
  folder: string;
  out: string;
  selection: Selection;
  /** An earlier commit whose files are built under today's ledger. */
  earlier: { commit: string; files: AuthoredFiles; ledger: Ledger } | undefined;
  /** Milliseconds since 1970. */
  clock: number;
  /** Refuses a ledger that lost lines. */
  proveLedger: ((ledger: Ledger) => Promise<void>) | undefined;
  /** Report of the command, stored for a later build that finds nothing changed. */
  report: ((built: BuiltSite) => Promise<unknown>) | undefined;
  onProgress?: ((progress: BuildProgress) => void) | undefined;
}
