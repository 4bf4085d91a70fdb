import type { Counters } from "./limits/rate-limits.ts";
import type { Pepper } from "./secrets.ts";
import type { Database } from "./store/schema.ts";

/** Configuration of a controller; defaults are in `settings`. */
export interface Settings {
  /** Prefixes of secrets, by which secret scanners and people recognize them. */
  prefixes: { key: string; token: string; device: string };
  /** Days. `never`: whether keys without expiry are allowed. */
  keyLife: { defaultDays: number; maxDays: number; never: boolean };
  /** Maximum of accepted devices; undefined: unlimited. */
  mostAccepted: number | undefined;
  mostPending: number;
  /** Requests per minute: per key, per address, and enrolments and logins per address. 0: unlimited. */
  limits: { key: number; address: number; enrol: number; login: number };
  /** Value of owned_by_org. */
  organisation: string | undefined;
}

export const settings: Settings = {
  prefixes: { key: "rck_", token: "rcu_", device: "rcd_" },
  keyLife: { defaultDays: 90, maxDays: 365, never: false },
  mostAccepted: undefined,
  mostPending: 10_000,
  limits: { key: 6000, address: 12_000, enrol: 120, login: 30 },
  organisation: undefined,
};

/** State that all requests of one controller share. */
export interface Controller {
  database: Database;
  pepper: Pepper;
  settings: Settings;
  counters: Counters;
  /** Id of this installation, shown to devices. */
  id: string;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Receives errors whose details clients do not see. */
  log: (message: string) => void;
}
