import { hash } from "node:crypto";
import type { Principal } from "../access.ts";
import type { Database } from "../store/database.ts";

/** Who was behind an Authorization header, while the database had this version, and not longer than until then. */
interface Remembered {
  version: number;
  /** Milliseconds since 1970. */
  until: number;
  principal: Principal;
}

/** Only headers that were good are kept, so nobody can fill this but who has keys. */
const most = 1000;
const known = new WeakMap<Database, Map<string, Remembered>>();

/** By digest: what lies in the memory for long is no secret. */
const nameOf = (header: string) => hash("sha256", header, "base64");

/** Whom an Authorization header names, where that is known and nothing at all has been committed since. */
export function recall(database: Database, header: string, now: number): Principal | undefined {
  const found = known.get(database)?.get(nameOf(header));
  return found && now < found.until && found.version === database.version?.() ? found.principal : undefined;
}

/** @param version of the database, from before it was asked */
export function remember(database: Database, header: string, entry: Remembered): void {
  const entries = known.get(database) ?? new Map<string, Remembered>();
  if (entries.size >= most) entries.clear();
  known.set(database, entries.set(nameOf(header), entry));
}
