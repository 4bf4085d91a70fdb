import { hash } from "node:crypto";
import type { Principal } from "../access.ts";
import type { Database } from "../store/database.ts";

/** Cached principal of an Authorization header, valid for one database version and until it expires. */
interface Remembered {
  version: number;
  /** Milliseconds since 1970. */
  until: number;
  principal: Principal;
}

/** Only valid headers are cached, so that only key holders can fill this. */
const maxEntries = 1000;
const known = new WeakMap<Database, Map<string, Remembered>>();

/** Keyed by digest, so that no secret stays in memory. */
const nameOf = (header: string) => hash("sha256", header, "base64");

/** Cached principal, unless anything was committed since. */
export function recall(database: Database, header: string, now: number): Principal | undefined {
  const found = known.get(database)?.get(nameOf(header));
  return found && now < found.until && found.version === database.version?.() ? found.principal : undefined;
}

/** @param version database version, read before the principal was looked up */
export function remember(database: Database, header: string, entry: Remembered): void {
  const entries = known.get(database) ?? new Map<string, Remembered>();
  if (entries.size >= maxEntries) entries.clear();
  known.set(database, entries.set(nameOf(header), entry));
}
