import type { Problem } from "../../shared/errors.ts";
import type { Config } from "../documents/config.ts";
import type { Located } from "../project/document.ts";
import type { Release } from "../records/normalize.ts";
import type { Identified } from "./assign-ids.ts";
import type { Ledger } from "./ledger.ts";

/** The part of a catalog that does not depend on its releases. */
export interface CatalogHead {
  folder: string;
  config: Config;
  configPlace: Located<unknown>["place"];
  ledger: Ledger;
  /** Versions with a folder that were skipped. */
  openVersions: string[];
  /** Number of note fragments for the next release. */
  nextNotes: number;
}

/** A catalog's authored input: read, checked, normalized and identified. */
export interface Catalog extends CatalogHead {
  releases: Release[];
  identified: Identified;
  /** All problems including warnings; errors are not thrown here. */
  problems: Problem[];
}
