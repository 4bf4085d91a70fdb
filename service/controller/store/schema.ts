import type { Generated } from "kysely";

/** Moments are ISO 8601 in UTC with milliseconds, so that text order is time order in every database. */
type Moment = string;
/** 0 or 1: what both databases have. */
type Flag = number;

export interface DeviceRow {
  /** Order of creation. */
  ordinal: number;
  id: string;
  name: string | null;
  state: string;
  serial: string | null;
  /** The serial number as it is compared; null for placeholders, which say nothing. */
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
  /** Of the token an accepted device was given; it has one at most. */
  token_digest: string | null;
}

export interface UserRow {
  ordinal: number;
  id: string;
  name: string | null;
  /** A user has one of email and username at least. */
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

/** API keys, and tokens of users: a token has an owner. Revoked ones stay, so that the audit log can name them. */
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
  /** When the secret was last exchanged; the key's life began anew then. */
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

/** What becomes of a serial number at first contact; `rejection`: because a device that had it was rejected. */
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
  /** JSON of what changed, before and after. */
  before: string | null;
  after: string | null;
  hash: string;
}

/** The database gives these numbers. */
type Numbered<Row> = Omit<Row, "ordinal"> & { ordinal: Generated<number> };

export interface Schema {
  /** audit_head: the last row's seq and hash, with a MAC over both; pepper: tells whether a pepper is the right one. */
  meta: { key: string; value: string };
  devices: Numbered<DeviceRow>;
  users: Numbered<UserRow>;
  keys: Numbered<KeyRow>;
  sessions: SessionRow;
  serials: SerialRow;
  /** Proofs that were accepted already, until their nonce expires by itself. */
  used_nonces: { digest: string; expires_at: Moment };
  audit_log: AuditRow;
  /** PostgreSQL only: what several processes count together. */
  counters: { key: string; window_start: number; count: number };
}
