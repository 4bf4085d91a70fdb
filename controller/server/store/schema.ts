import type { Generated, Kysely } from "kysely";

/** ISO 8601 in UTC with milliseconds, so that text order is time order in every database. */
type Moment = string;
/** 0 or 1, which both databases support. */
type Flag = number;

export interface DeviceRow {
  /** Order of creation. */
  ordinal: number;
  id: string;
  name: string | null;
  state: string;
  serial: string | null;
  /** Normalized serial number; null for placeholders, which identify no machine. */
  serial_key: string | null;
  public_key: string;
  ipv6: string | null;
  device_type: string | null;
  device_os: string | null;
  controller_id: string | null;
  owned_by_org: string | null;
  assigned_to_user: string | null;
  last_seen: Moment | null;
  last_seen_version: string | null;
  version: number;
  created_at: Moment;
  state_changed_at: Moment;
  state_changed_by: string | null;
  state_reason: string | null;
  /** Digest of an accepted device's token; it has at most one. */
  token_digest: string | null;
}

export interface UserRow {
  ordinal: number;
  id: string;
  name: string | null;
  /** At least one of email and username is set. */
  email: string | null;
  username: string | null;
  role: string;
  status: string;
  authz_devices: Flag;
  authz_policies: Flag;
  authz_control_panel: Flag;
  authz_users: Flag;
  password: string | null;
  created_at: Moment;
}

/** API keys and users' tokens; a token has an owner. Revoked keys stay, so that the audit log can name them. */
export interface KeyRow {
  ordinal: number;
  id: string;
  owner: string | null;
  name: string | null;
  scopes: string;
  digest: string;
  previous_digest: string | null;
  previous_until: Moment | null;
  created_by: string;
  created_at: Moment;
  /** Time of the last rotation, which restarted the key's lifetime. */
  rotated_at: Moment | null;
  expires_at: Moment | null;
  disabled: Flag;
  revoked_at: Moment | null;
  last_used_at: Moment | null;
}

interface SessionRow {
  digest: string;
  user_id: string;
  created_at: Moment;
  expires_at: Moment;
}

/** Decision for a serial number at first contact; `rejection`: a device with this number was rejected. */
export interface SerialRow {
  serial_key: string;
  serial: string;
  enforce_state: string;
  device_id: string | null;
  source: "decision" | "rejection";
  created_by: string | null;
  created_at: Moment;
}

export interface AuditRow {
  seq: number;
  at: Moment;
  actor_kind: string;
  actor_id: string | null;
  actor_name: string | null;
  ip: string | null;
  request_id: string | null;
  code: string;
  target_kind: string | null;
  target_id: string | null;
  /** JSON of the changed members. */
  before: string | null;
  after: string | null;
  hash: string;
}

/** The database assigns these numbers. */
type Numbered<Row> = Omit<Row, "ordinal"> & { ordinal: Generated<number> };

export interface Schema {
  /** audit_head: seq and hash of the last row, with a MAC over both; pepper: a check value for the pepper. */
  meta: { key: string; value: string };
  /** name_key: sort key of the name, from `nameKeyOf`. */
  devices: Numbered<DeviceRow> & { name_key: Generated<string> };
  users: Numbered<UserRow>;
  keys: Numbered<KeyRow>;
  sessions: SessionRow;
  serials: SerialRow;
  /** Accepted proofs, kept until their nonce expires. */
  used_nonces: { digest: string; expires_at: Moment };
  audit_log: AuditRow;
  /** PostgreSQL only: counters shared by several processes. */
  counters: { key: string; window_start: number; count: number };
}

export type DatabaseKind = "sqlite" | "postgres";

/** @param send for statements whose results are not needed: they share a round trip with the commit */
export type Work<T> = (
  transaction: Kysely<Schema>,
  send: (statement: Promise<unknown>) => void,
) => Promise<T>;

/** A controller's database: PostgreSQL for several processes, or the SQLite file of one. */
export interface Database {
  kind: DatabaseKind;
  /** Reads committed data only. */
  read: Kysely<Schema>;
  /** Excludes all other writers, so that what `work` read still holds at commit, and deadlocks cannot occur. */
  write<T>(work: Work<T>): Promise<T>;
  /** For small writes that need no ordering, such as the time of last use. */
  note(work: (database: Kysely<Schema>) => Promise<unknown>): Promise<void>;
  /** Calls the listener after each commit of any process. @returns a function that unsubscribes */
  onCommit(listener: () => void): () => void;
  close(): Promise<void>;
}
