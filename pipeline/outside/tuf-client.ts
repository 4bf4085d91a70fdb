import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Metadata, Root, Targets } from "@tufjs/models";
import { Updater } from "tuf-js";
import { DownloadHTTPError } from "tuf-js/dist/error.js";
import { failure, RelcatError } from "../errors.ts";
import {
  readRoot,
  readSnapshot,
  readTargets,
  readTimestamp,
  type SignedRoot,
  type SignedSnapshot,
  type SignedTargets,
  type SignedTimestamp,
  sha256,
} from "../trust/metadata.ts";
import { lifetimeOf } from "../trust/roles.ts";
import { readIfPresent } from "./files.ts";
import type { Answer, SiteReader } from "./site-reader.ts";
import { readState, writeState } from "./trust-state.ts";
import { type Asked, explained, tampered } from "./tuf-refusals.ts";

/** A site whose metadata was checked from a pinned root on. */
export interface TrustedSite {
  site: SiteReader;
  root: SignedRoot;
  timestamp: SignedTimestamp;
  snapshot: SignedSnapshot;
  /** Metadata as the site answered it now, by path; what was known already is not asked for again. */
  answered: ReadonlyMap<string, Uint8Array>;
  /** What its answers with metadata said beside it. */
  headers: Answer["headers"];
  /** A role's metadata, checked; undefined where nobody lets it speak. @throws RelcatError site-tampered, site-expired */
  role(name: string): Promise<SignedTargets | undefined>;
  /** What the responsible role says of a target; undefined where nobody speaks for it. */
  describe(path: string): Promise<{ sha256: string; size: number } | undefined>;
  /** The bytes of a target, checked; undefined where nobody speaks for one. @throws RelcatError site-tampered */
  target(path: string): Promise<Uint8Array | undefined>;
  /** Remembers what was seen, so that nobody can go back behind it: only after everything else was checked. */
  remember(): void;
  close(): void;
}

/** No target that verifying reads is larger: the whole list of a very large catalog. */
const mostTargetBytes = 1024 * 1024 * 1024;

/**
 * Checks a site's metadata: roots, timestamp, snapshot, targets (TUF 1.0, section 5).
 * @param root bytes of the root that the user trusts
 * @param state folder of what was seen at earlier times
 * @throws RelcatError site-tampered, site-stale, site-expired, clock, network, each naming the role
 */
export async function openTrustedSite(
  site: SiteReader,
  root: Uint8Array,
  state: string,
): Promise<TrustedSite> {
  const before = readState(state);
  const work = mkdtempSync(join(tmpdir(), "relcat-trust-"));
  const close = () => rmSync(work, { recursive: true, force: true });
  try {
    for (const [name, bytes] of before) writeFileSync(join(work, name), bytes);
    if (!before.has("root.json")) writeFileSync(join(work, "root.json"), root);
    return { ...(await checkMetadata(site, work, state)), close };
  } catch (error) {
    close();
    throw error;
  }
}

async function checkMetadata(site: SiteReader, work: string, state: string) {
  const asked: Asked = { path: "metadata/root.json", failed: undefined };
  const answered = new Map<string, Uint8Array>();
  let headers: Answer["headers"] = {};
  const inWords = <T>(doing: () => Promise<T>) => worded(site, asked, doing);
  const client = await inWords(async () => {
    const fetcher = fetcherOf(site, asked, (path, answer) => {
      answered.set(path, answer.bytes);
      headers = { ...headers, ...answer.headers };
    });
    const config = { maxRootRotations: 1024 };
    const updater = new Updater({ metadataDir: work, metadataBaseUrl: "site:/metadata", fetcher, config });
    await updater.refresh();
    return updater;
  });
  const kept = (name: string) => readFileSync(join(work, `${encodeURIComponent(name)}.json`));
  const trusted = {
    site,
    answered,
    headers,
    root: readRoot(kept("root")),
    timestamp: readTimestamp(kept("timestamp")),
    snapshot: readSnapshot(kept("snapshot")),
  };
  refuseClock(site, trusted.timestamp);
  for (const { version } of [trusted.root, trusted.timestamp, trusted.snapshot].map(signedOf))
    refuseVersion(site, version);
  refuseDoubledKeys(site, "root", trusted.root.metadata.signed);

  const describe = async (path: string) => {
    const info = await inWords(() => client.getTargetInfo(path));
    return info && { sha256: info.hashes.sha256 ?? "", size: info.length };
  };
  return {
    ...trusted,
    describe,
    async role(name: string) {
      if (name !== "targets") await describe(pathInside(name));
      const bytes = readIfPresent(join(work, `${encodeURIComponent(name)}.json`));
      const meta = trusted.snapshot.metadata.signed.meta[`${name}.json`];
      // What is left of an earlier time was not checked now.
      if (!bytes || !meta || meta.hashes?.sha256 !== sha256(bytes)) return undefined;
      const role = readTargets(bytes);
      refuseDoubledKeys(site, name, role.metadata.signed);
      return role;
    },
    async target(path: string) {
      const known = await describe(path);
      return known && readTarget(site, path, known);
    },
    remember() {
      const names = ["root", "timestamp", ...Object.keys(trusted.snapshot.metadata.signed.meta)];
      const files = ["snapshot", ...names.map((name) => name.replace(/\.json$/, ""))].map(
        (name) => `${encodeURIComponent(name)}.json`,
      );
      const seen = files.map((file): [string, Uint8Array | undefined] => [
        file,
        readIfPresent(join(work, file)),
      ]);
      writeState(state, new Map(seen.flatMap(([file, bytes]) => (bytes ? [[file, bytes] as const] : []))));
    },
  };
}

const signedOf = ({ metadata }: { metadata: { signed: { version: number } } }) => metadata.signed;

/** A path that the role, or one below it, is asked about: that makes the client load it. */
const pathInside = (role: string): string =>
  role === "catalog"
    ? "catalog/index.json"
    : `releases/${role.slice("releases-".length).padEnd(5, ".00")}.000/release.json`;

async function readTarget(site: SiteReader, path: string, known: { sha256: string; size: number }) {
  const stored = storedName(path, known.sha256);
  const { status, bytes } = await site.read(stored, Math.min(known.size, mostTargetBytes));
  if (status !== 200) throw tampered(site, stored, `is missing (${status})`);
  if (bytes.length !== known.size || sha256(bytes) !== known.sha256)
    throw tampered(site, stored, "is not what was signed");
  return bytes;
}

/** Where a target lies (TUF 1.0, 6.2). */
export function storedName(path: string, hash: string): string {
  const slash = path.lastIndexOf("/") + 1;
  return `targets/${path.slice(0, slash)}${hash}.${path.slice(slash)}`;
}

function fetcherOf(site: SiteReader, asked: Asked, onAnswer: (path: string, answer: Answer) => void) {
  const downloadBytes = async (url: string, limit: number): Promise<Buffer> => {
    asked.path = decodeURIComponent(url.slice("site:/".length));
    try {
      const answer = await site.read(asked.path, limit);
      if (answer.status !== 200) throw new DownloadHTTPError("missing", answer.status === 403 ? 403 : 404);
      onAnswer(asked.path, answer);
      return Buffer.from(answer.bytes);
    } catch (error) {
      // The client keeps only the text of what goes wrong on the way.
      if (error instanceof RelcatError) asked.failed = error;
      throw error;
    }
  };
  const downloadFile = () => Promise.reject(new Error("targets are read by relcat itself"));
  return { downloadBytes, downloadFile };
}

async function worded<T>(site: SiteReader, asked: Asked, doing: () => Promise<T>): Promise<T> {
  try {
    return await doing();
  } catch (error) {
    if (asked.failed) throw asked.failed;
    throw error instanceof RelcatError ? error : explained(site, asked.path, error);
  }
}

/** Hours that a clock may be behind: those of a time zone that was set for another. */
const mostBehind = 24 * 3_600_000;

/** Who believes it is earlier than it is sees nothing expire. */
function refuseClock(site: SiteReader, { metadata }: SignedTimestamp): void {
  const signedAt = Date.parse(metadata.signed.expires) - lifetimeOf("timestamp");
  if (signedAt <= Date.now() + mostBehind) return;
  throw failure(
    "clock",
    `${site.place}: the timestamp was signed on ${new Date(signedAt).toISOString()}, which is yet to come by your clock`,
    "Set the clock: with a wrong one nobody can say whether a signature has expired.",
  );
}

function refuseVersion(site: SiteReader, version: number): void {
  if (!Number.isSafeInteger(version) || version < 1)
    throw tampered(site, "metadata", `has the version ${version}, expected a whole number from 1 on`);
}

/** A key that goes by two names would count twice towards a threshold. */
function refuseDoubledKeys(site: SiteReader, role: string, content: Root | Targets): void {
  const { keys, roles } = "delegations" in content ? (content.delegations ?? {}) : (content as Root);
  for (const [name, { keyIDs }] of Object.entries(roles ?? {})) {
    const values = keyIDs.flatMap((id) => keys?.[id]?.keyVal.public ?? []);
    if (new Set(values).size === values.length) continue;
    throw tampered(site, "metadata", `(role ${role}) gives ${name} the same key under two names`);
  }
}

/** Whose valid signatures a role's metadata has. */
export function signersOf(delegator: Metadata<Root> | Metadata<Targets>, name: string, role: SignedTargets) {
  const content: Root | Targets = delegator.signed;
  const { keys, roles } =
    "delegations" in content ? (content.delegations ?? {}) : (content as Pick<Root, "keys" | "roles">);
  const ids = (roles as Record<string, { keyIDs: string[] }> | undefined)?.[name]?.keyIDs ?? [];
  return ids.filter((id) => {
    try {
      keys?.[id]?.verifySignature(role.metadata);
      return keys?.[id] !== undefined;
    } catch {
      return false;
    }
  });
}
