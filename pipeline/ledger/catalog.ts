import type { Config } from "../documents/config.ts";
import type { Problem } from "../errors.ts";
import type { Located } from "../project/document.ts";
import type { Release } from "../records/normalize.ts";
import type { Identified } from "./assign-ids.ts";
import type { Ledger } from "./ledger.ts";

/** A catalog's authored input, read, checked and normalized. */
export interface Catalog {
  folder: string;
  config: Config;
  /** Where an entry of the configuration stands. */
  configPlace: Located<unknown>["place"];
  ledger: Ledger;
  releases: Release[];
  identified: Identified;
  /** Version folders that were left out. */
  openVersions: string[];
  /** Note fragments of the next release. */
  nextNotes: number;
  /** Everything found, warnings included; errors among them do not throw here. */
  problems: Problem[];
}
