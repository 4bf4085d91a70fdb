import type { Metadata, Root, Targets } from "@tufjs/models";
import { EqualVersionError } from "tuf-js/dist/error.js";
import { TrustedMetadataStore } from "tuf-js/dist/store.js";

/** Verified metadata of earlier runs, by role. Writes are durable before the next request. */
export interface TrustMemory {
  read(role: string): Uint8Array | undefined;
  write(role: string, bytes: Uint8Array): Promise<void>;
  forget(role: string): Promise<void>;
}

/** Refuses what no client should accept. @param limit bytes @returns undefined if it does not exist */
type AskForMetadata = (path: string, role: string, limit: number) => Promise<Uint8Array | undefined>;

/** Errors that the trusted store does not detect itself. */
export class WorkflowError extends Error {}

/** The client workflow of TUF 1.0.34, section 5; comments give the numbers of its steps. */
interface Workflow {
  store: TrustedMetadataStore;
  /** Current verified metadata, by role. */
  bytes: ReadonlyMap<string, Uint8Array>;
  /** The role responsible for a target, loaded with the roles that lead to it (5.6.7). */
  find(target: string): Promise<Metadata<Targets> | undefined>;
}

interface Run {
  store: TrustedMetadataStore;
  bytes: Map<string, Uint8Array>;
  memory: TrustMemory;
  ask: AskForMetadata;
}

const maxRotations = 1024;
const maxDelegations = 32;
/** Size limits in bytes, if the parent metadata gives none. */
const limits = { root: 512_000, timestamp: 16_384, snapshot: 2_000_000, targets: 5_000_000 };

/**
 * Each role is stored after its verification, even if a later step fails. @param pinned first root, if none is stored
 * @throws Error of tuf-js, WorkflowError, and whatever `ask` throws
 */
export async function followWorkflow(
  pinned: Uint8Array,
  memory: TrustMemory,
  ask: AskForMetadata,
): Promise<Workflow> {
  const root = memory.read("root") ?? pinned;
  const store = new TrustedMetadataStore(Buffer.from(root));
  const run: Run = { store, bytes: new Map(), memory, ask };
  await accept(run, "root", root);
  await updateRoot(run);
  await updateTimestamp(run);
  await updateSnapshot(run);
  await loadTargets(run, "targets", "root");
  return { store, bytes: run.bytes, find: (target) => findTarget(run, target) };
}

/** 5.3.8, 5.4.5, 5.5.7, 5.6.6 */
async function accept({ bytes, memory }: Run, role: string, verified: Uint8Array): Promise<void> {
  bytes.set(role, verified);
  await memory.write(role, verified);
}

/** 5.3. Expiry of the last root (5.3.10) is checked together with the timestamp. */
async function updateRoot(run: Run): Promise<void> {
  for (let rotation = 0; rotation < maxRotations; rotation++) {
    const before = run.store.root.signed;
    const path = `metadata/${before.version + 1}.root.json`;
    const bytes = await run.ask(path, "root", limits.root);
    if (!bytes) return;
    run.store.updateRoot(Buffer.from(bytes));
    await accept(run, "root", bytes);
    // 5.3.11: a stolen key may have been used to raise the version numbers.
    if (["timestamp", "snapshot"].some((role) => losesKey(before, run.store.root.signed, role)))
      for (const role of ["timestamp", "snapshot"]) await run.memory.forget(role);
  }
}

const losesKey = (before: Root, after: Root, role: string): boolean =>
  (before.roles[role]?.keyIDs ?? []).some((id) => !after.roles[role]?.keyIDs.includes(id));

/** 5.4 */
async function updateTimestamp(run: Run): Promise<void> {
  const known = run.memory.read("timestamp");
  if (known && isTaken(() => run.store.updateTimestamp(Buffer.from(known))))
    run.bytes.set("timestamp", known);
  const bytes = await required(run, "metadata/timestamp.json", "timestamp", limits.timestamp);
  try {
    run.store.updateTimestamp(Buffer.from(bytes));
  } catch (error) {
    // 5.4.3: keep the stored metadata if the version is the same.
    if (!(error instanceof EqualVersionError)) throw error;
    if (known) run.bytes.set("timestamp", known);
    return;
  }
  await accept(run, "timestamp", bytes);
}

/** 5.5 */
async function updateSnapshot(run: Run): Promise<void> {
  const known = run.memory.read("snapshot");
  if (known && isTaken(() => run.store.updateSnapshot(Buffer.from(known), true))) {
    run.bytes.set("snapshot", known);
    return;
  }
  const meta = run.store.timestamp?.signed.snapshotMeta;
  const path = `metadata/${prefix(run, meta?.version)}snapshot.json`;
  const bytes = await required(run, path, "snapshot", meta?.length ?? limits.snapshot);
  run.store.updateSnapshot(Buffer.from(bytes));
  await accept(run, "snapshot", bytes);
}

/** 5.6, for targets and for delegated roles. */
async function loadTargets(run: Run, role: string, delegator: string) {
  const { store } = run;
  const loaded = store.getRole(role);
  if (loaded) {
    store.getRole(delegator)?.verifyDelegate(role, loaded);
    return loaded;
  }
  const take = (bytes: Uint8Array) => store.updateDelegatedTargets(Buffer.from(bytes), role, delegator);
  const known = run.memory.read(role);
  if (known && isTaken(() => take(known))) {
    run.bytes.set(role, known);
    return store.getRole(role);
  }
  const meta = Object.entries(store.snapshot?.signed.meta ?? {}).find(
    ([file]) => file === `${role}.json`,
  )?.[1];
  if (!meta) throw new WorkflowError(`lacks the role ${role}, to which ${delegator} delegates`);
  const path = `metadata/${prefix(run, meta.version)}${encodeURIComponent(role.toWellFormed())}.json`;
  const bytes = await required(run, path, role, meta.length ?? limits.targets);
  take(bytes);
  await accept(run, role, bytes);
  return store.getRole(role);
}

/** 5.6.7: depth first, in the order of the delegations; a terminating delegation ends the search. */
async function findTarget(run: Run, target: string): Promise<Metadata<Targets> | undefined> {
  const waiting = [{ role: "targets", delegator: "root" }];
  const visited = new Set<string>();
  while (visited.size <= maxDelegations) {
    const next = waiting.pop();
    if (!next) return undefined;
    if (visited.has(next.role)) continue;
    visited.add(next.role);
    const metadata = await loadTargets(run, next.role, next.delegator);
    if (!metadata || Object.hasOwn(metadata.signed.targets, target)) return metadata;
    const below: typeof waiting = [];
    for (const { role, terminating } of metadata.signed.delegations?.rolesForTarget(target) ?? []) {
      below.push({ role, delegator: next.role });
      if (!terminating) continue;
      waiting.length = 0;
      break;
    }
    waiting.push(...below.reverse());
  }
  return undefined;
}

async function required({ ask }: Run, path: string, role: string, limit: number): Promise<Uint8Array> {
  const bytes = await ask(path, role, limit);
  if (!bytes) throw new WorkflowError("is missing");
  return bytes;
}

const prefix = ({ store }: Run, version: number | undefined): string =>
  store.root.signed.consistentSnapshot ? `${version}.` : "";

/** Stored metadata may have expired, or its key may have been replaced; then it is downloaded. */
function isTaken(take: () => unknown): boolean {
  try {
    take();
    return true;
  } catch {
    return false;
  }
}
