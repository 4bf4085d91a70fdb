import { createHash, generateKeyPairSync } from "node:crypto";
import { keyId, publicBytes } from "../../pipeline/trust/keys.ts";
import type { SiteReader } from "../../pipeline/verify/stores/site-reader.ts";
import { day, described, signedBy, type TestKey } from "./support.ts";

// biome-ignore lint/suspicious/noExplicitAny: attacks reach into documents of every shape
type Json = any;

export function newKey(): TestKey {
  const { privateKey } = generateKeyPairSync("ed25519");
  const bytes = publicBytes(privateKey);
  return { id: keyId(bytes), private: privateKey, public: Buffer.from(bytes).toString("hex") };
}

export const daysAhead = (days: number) =>
  new Date(Date.now() + days * day).toISOString().replace(/\.\d+Z/, "Z");

const digest = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest("hex");

/** A TUF repository without releases. A change takes effect when it is published. */
export class TufRepository {
  readonly files = new Map<string, Buffer>();
  readonly asked: string[] = [];
  readonly keys = new Map<string, TestKey[]>();
  readonly signed = new Map<string, Json>();

  constructor() {
    for (const role of ["root", "timestamp", "snapshot", "targets"]) this.keys.set(role, [newKey()]);
    this.signed.set("root", this.content("root", { consistent_snapshot: true, keys: {}, roles: {} }));
    this.signed.set("timestamp", this.content("timestamp", { meta: { "snapshot.json": { version: 1 } } }));
    this.signed.set("snapshot", this.content("snapshot", { meta: { "targets.json": { version: 1 } } }));
    this.signed.set("targets", this.content("targets", { targets: {} }));
    for (const role of this.signed.keys()) this.allow(role);
    for (const role of this.signed.keys()) this.publish(role);
  }

  private content(kind: string, rest: object): Json {
    return { _type: kind, spec_version: "1.0.34", version: 1, expires: daysAhead(30), ...rest };
  }

  edit(role: string): Json {
    return this.signed.get(role);
  }

  /** Says in the root whose signatures count for a role: those of the keys it has now. */
  allow(role: string, threshold = 1): void {
    const root = this.edit("root");
    const keys = this.keys.get(role) ?? [];
    for (const key of keys) root.keys[key.id] = described(key);
    root.roles[role] = { keyids: keys.map(({ id }) => id), threshold };
  }

  rotate(role: string): void {
    this.keys.set(role, [newKey()]);
    this.allow(role);
  }

  delegate(role: string, change: object = {}, delegator = "targets"): void {
    const key = newKey();
    this.keys.set(role, [key]);
    this.signed.set(role, this.content("targets", { targets: {} }));
    const content = this.edit(delegator);
    content.delegations ??= { keys: {}, roles: [] };
    content.delegations.keys[key.id] = described(key);
    content.delegations.roles.push({
      ...{ name: role, paths: ["*"], terminating: false, keyids: [key.id], threshold: 1 },
      ...change,
    });
    this.edit("snapshot").meta[`${role}.json`] = { version: 1 };
    this.publish(role);
  }

  /** Stores roles as they are now, under their own version or another. */
  publish(role: string, as: number = this.edit(role).version): Buffer {
    const bytes = Buffer.from(JSON.stringify(signedBy(this.edit(role), this.keys.get(role) ?? [])));
    const name = encodeURIComponent(role);
    this.files.set(`metadata/${role === "timestamp" ? "" : `${as}.`}${name}.json`, bytes);
    return bytes;
  }

  /** Publishes the next version of a role, and of those that lead to it. @param lead whether they say so */
  next(role: string, lead = true): void {
    this.edit(role).version++;
    const bytes = this.publish(role);
    if (!lead || role === "root" || role === "timestamp") return;
    const above = role === "snapshot" ? "timestamp" : "snapshot";
    this.edit(above).meta[`${role}.json`] = {
      version: this.edit(role).version,
      length: bytes.length,
      hashes: { sha256: digest("sha256", bytes) },
    };
    this.next(above);
  }

  /** @param algorithms of the hashes that describe the target, in their order */
  addTarget(path: string, text: string, algorithms: readonly string[], role = "targets"): void {
    const bytes = Buffer.from(text);
    const hashes = Object.fromEntries(algorithms.map((name) => [name, digest(name, bytes)]));
    this.edit(role).targets[path] = { length: bytes.length, hashes };
    const slash = path.lastIndexOf("/") + 1;
    const stored = `${path.slice(0, slash)}${Object.values(hashes)[0]}.${path.slice(slash)}`;
    this.files.set(`targets/${stored}`, bytes);
  }

  root(version = 1): Buffer {
    return this.files.get(`metadata/${version}.root.json`) ?? Buffer.alloc(0);
  }

  site(): SiteReader {
    return {
      place: "the repository",
      isRemote: false,
      read: async (path) => {
        this.asked.push(path);
        const bytes = this.files.get(path);
        return { status: bytes ? 200 : 404, headers: {}, bytes: bytes ?? new Uint8Array() };
      },
    };
  }
}
