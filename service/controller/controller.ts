import type { Pepper } from "./auth/secrets.ts";
import type { Counters } from "./limits/counters.ts";
import type { Database } from "./store/database.ts";

/** How a controller is run; defaults in `settings`. */
export interface Settings {
  /** Beginnings of secrets, by which scanners and people know them. */
  prefixes: { key: string; token: string; device: string };
  /** Days. `never`: whether keys without an end may be made. */
  keyLife: { usual: number; most: number; never: boolean };
  /** Accepted devices, at most; undefined: any number. */
  mostAccepted: number | undefined;
  /** Pending devices, at most. */
  mostPending: number;
  /** Requests a minute: of one key, of one address, and enrolments and logins of one address. 0: any number. */
  limits: { key: number; address: number; enrol: number; login: number };
  /** Fills owned_by_org. */
  organisation: string | undefined;
}

export const settings: Settings = {
  prefixes: { key: "rck_", token: "rcu_", device: "rcd_" },
  keyLife: { usual: 90, most: 365, never: false },
  mostAccepted: undefined,
  mostPending: 10_000,
  limits: { key: 6000, address: 12_000, enrol: 120, login: 30 },
  organisation: undefined,
};

/** What every request of one controller has in common. */
export interface Controller {
  database: Database;
  pepper: Pepper;
  settings: Settings;
  counters: Counters;
  /** This installation, as devices know it. */
  id: string;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Hears of what clients are not told. */
  log: (message: string) => void;
}
