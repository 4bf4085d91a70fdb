import type { Ledger } from "../ledger/ledger.ts";
import type { Selection } from "../ledger/load-catalog.ts";
import type { AuthoredFiles } from "../project/authored-files.ts";
import type { BuiltSite } from "./built-site.ts";

/** Number of finished releases, and of all releases. */
export interface BuildProgress {
  done: number;
  total: number;
}

/** Input of a build, and its callbacks. */
export interface BuildRequest {
  folder: string;
  out: string;
  selection: Selection;
  /** A commit whose files are built under today's ledger, instead of those in the folder. */
  earlier: { commit: string; files: AuthoredFiles; ledger: Ledger } | undefined;
  /** Milliseconds since 1970. */
  clock: number;
  /** Throws if the ledger lost lines that git has. Undefined: no comparison with git. */
  proveLedger: ((ledger: Ledger, ledgerBase: string) => Promise<void>) | undefined;
  /** Returns the report of the command, which is stored for a later build that finds nothing changed. */
  report: ((built: BuiltSite) => Promise<unknown>) | undefined;
  onProgress?: ((progress: BuildProgress) => void) | undefined;
}
