import type { Metadata, Root, Timestamp } from "@tufjs/models";
import { hasSigned, readRoot, sha256 } from "../trust/metadata.ts";
import type { Finding } from "./finding.ts";
import type { TrustedSite } from "./tuf-client.ts";

const maxRootBytes = 512_000;
const maxListBytes = 64 * 1024 * 1024;

/**
 * Checks what no signature or hash covers: signatures, white space, earlier roots, and the list of signed files. Other
 * clients may read what this one ignores.
 */
export async function metadataFindings(trusted: TrustedSite, pinned: Uint8Array): Promise<Finding[]> {
  return [
    ...(await rootFindings(trusted, pinned)),
    ...timestampFindings(trusted),
    ...(await partFindings(trusted)),
    ...(await signedListFindings(trusted)),
  ];
}

async function rootFindings(trusted: TrustedSite, pinned: Uint8Array): Promise<Finding[]> {
  const findings: Finding[] = [];
  const newest = trusted.root.metadata.signed.version;
  const pinnedVersion = readRoot(pinned).metadata.signed.version;
  let before: Metadata<Root> | undefined;
  for (let version = 1; version <= newest; version++) {
    const path = `metadata/${version}.root.json`;
    const bytes = trusted.answered.get(path) ?? (await read(trusted, path, maxRootBytes));
    const root = bytes && parsed(bytes);
    const say = (what: string) => findings.push({ path, what });
    if (!bytes) say("is missing: clients that trust an older root cannot update to the newest");
    else if (!root) say("is not root metadata");
    else if (version === pinnedVersion && Buffer.compare(bytes, pinned) !== 0)
      say("is not the root that is pinned");
    else findings.push(...formFindings(path, bytes, root, [root, ...(before ? [before] : [])], "root"));
    before = root;
  }
  return findings;
}

function parsed(bytes: Uint8Array): Metadata<Root> | undefined {
  try {
    return readRoot(bytes).metadata;
  } catch {
    return undefined;
  }
}

function timestampFindings({ answered, timestamp, root }: TrustedSite): Finding[] {
  const path = "metadata/timestamp.json";
  const bytes = answered.get(path);
  if (!bytes) return [];
  if (Buffer.compare(bytes, timestamp.bytes) !== 0)
    return [{ path, what: "differs from the one of this version that was seen before" }];
  return formFindings(path, bytes, timestamp.metadata, [root.metadata], "timestamp");
}

/** The encoding must be the one that `sign` writes, and each signature must be from an allowed key. */
function formFindings(
  path: string,
  bytes: Uint8Array,
  metadata: Metadata<Root> | Metadata<Timestamp>,
  delegators: readonly Metadata<Root>[],
  role: string,
): Finding[] {
  const text = `${JSON.stringify(metadata.toJSON())}\n`;
  if (text !== new TextDecoder().decode(bytes))
    return [{ path, what: "is not written as it was when it was signed" }];
  return Object.values(metadata.signatures).flatMap(({ keyID, sig }) => {
    const isGood =
      /^[0-9a-f]+$/.test(sig) &&
      delegators.some(
        ({ signed }) => signed.roles[role]?.keyIDs.includes(keyID) && hasSigned(signed.keys, keyID, metadata),
      );
    return isGood
      ? []
      : [{ path, what: `has a signature that is not from a ${role} key (${keyID.slice(0, 16)}…)` }];
  });
}

/** Everything in the snapshot must be available to all clients, including those with older metadata. */
async function partFindings(trusted: TrustedSite): Promise<Finding[]> {
  const { timestamp, snapshot, answered } = trusted;
  const named = [
    ["snapshot.json", timestamp.metadata.signed.snapshotMeta] as const,
    ...Object.entries(snapshot.metadata.signed.meta),
  ];
  const findings: Finding[] = [];
  for (const [file, meta] of named) {
    const path = `metadata/${meta.version}.${encodeURIComponent(file)}`;
    if (answered.has(path)) continue; // The client has verified these already.
    const bytes = await read(trusted, path, (meta.length ?? maxListBytes) + 1);
    if (!bytes) findings.push({ path, what: "is missing" });
    else if (sha256(bytes) !== meta.hashes?.sha256) findings.push({ path, what: "is not what was signed" });
  }
  return findings;
}

/** metadata/signed.json of a folder is not signed, but `sign` reads it; all its values can be verified. */
async function signedListFindings(trusted: TrustedSite): Promise<Finding[]> {
  if (trusted.site.isRemote) return [];
  const path = "metadata/signed.json";
  const bytes = await read(trusted, path, maxListBytes);
  if (!bytes) return [];
  const wrong = (what: string): Finding[] => [{ path, what }];
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const { schema_version, build, files, ...rest } = JSON.parse(text);
    const isPlain = schema_version === 1 && Object.keys(rest).length === 0;
    if (!isPlain || text !== `${JSON.stringify({ schema_version, build, files })}\n`)
      return wrong("is not written as it was when it was signed");
    const built = await read(trusted, "build.json", maxListBytes);
    if (built && sha256(built) !== build) return wrong("is from another build than build.json");
    const findings: Finding[] = [];
    for (const [name, known] of Object.entries(files as Record<string, { sha256: string; size: number }>)) {
      const file = await read(trusted, name, known.size + maxRootBytes);
      if (!file || sha256(file) !== known.sha256 || file.length !== known.size)
        findings.push({ path, what: `lists ${name} with other data than it has` });
    }
    return findings;
  } catch {
    return wrong("is not a list of signed files");
  }
}

async function read({ site }: TrustedSite, path: string, limit: number): Promise<Uint8Array | undefined> {
  const { status, bytes } = await site.read(path, limit);
  return status === 200 ? bytes : undefined;
}
