import { join } from "node:path";
import type { Root, Targets } from "@tufjs/models";
import { failure, type Problem, RelcatError } from "../../shared/errors.ts";
import type { TrustDelivery, TrustedRole } from "../documents/outputs/trust.ts";
import { rootKeys, type TrustProfile } from "../documents/trust.ts";
import { readLedgerNow } from "../ledger/ledger-file.ts";
import { discover } from "../project/discover.ts";
import { exists } from "../system/files.ts";
import { keyId, type Signer } from "./keys.ts";
import { hasSigned } from "./metadata.ts";
import { beginTrust, changeKeys, keysOf, signOffline, yearsOf } from "./renewal.ts";
import { moreYears, rolesOfRelease } from "./roles.ts";
import { folderSigners, newKeyPem, signerOfPem } from "./stores/signer.ts";
import {
  readTrust,
  refuseExposed,
  requireTrust,
  type StoredTrust,
  trustFolder,
  writeKeys,
  writeTrust,
} from "./stores/trust-folder.ts";

/**
 * Sets up signing for a site: private keys in a folder outside git, public files in `releases/trust/`.
 * @param now milliseconds since 1970
 * @throws RelcatError trust-exists, key-exposed, file-exists, file-access
 */
export async function beginSiteTrust(
  releases: string,
  { keys: folder, profile }: { keys: string; profile: Exclude<TrustProfile, "none"> },
  now: number,
): Promise<TrustDelivery> {
  if (readTrust(releases)) {
    const hint = "Change its keys instead: relcat trust rotate";
    throw failure("trust-exists", `${trustFolder(releases)} already has a root`, hint);
  }
  await refuseExposed(folder);
  const { count } = rootKeys[profile];
  const names = [...rootNames(count), "targets", "online"];
  const made = names.map((name) => ({ file: `${name}.pem`, pem: newKeyPem() }));
  writeKeys(folder, Object.fromEntries(made.map(({ file, pem }) => [file, pem])));
  const signers = made.map(({ pem, file }) => signerOfPem(pem, file));
  const [targets, online] = signers.slice(count) as [Signer, Signer];
  const keys = { roots: signers.slice(0, count), targets, online: online.publicKey };
  const begun = await beginTrust(profile, keys, await years(releases, now), now);
  return {
    written: writeTrust(releases, begun),
    // biome-ignore lint/plugin: relcat chose these file names.
    keys: made.map(({ file }) => join(folder, file)),
    missing: { root: 0, targets: false },
  };
}

const rootNames = (count: number): string[] =>
  count === 1 ? ["root"] : Array.from({ length: count }, (_, index) => `root-${index + 1}`);

/** Covers all releases, cut or not. */
async function years(releases: string, now: number): Promise<string[]> {
  const found = await discover(releases);
  const versions = [...readLedgerNow(releases).versions, ...found.releases.map(({ version }) => version)];
  return yearsOf([...new Set(versions.map((version) => 2000 + Number(version.slice(0, 2))))], now);
}

/**
 * Warns of each year that `sign` would refuse. Trust that cannot be read is a problem among others.
 * @param versions ascending
 */
export function undelegatedYears(releases: string, versions: readonly string[]): Problem[] {
  let trust: StoredTrust | undefined;
  try {
    trust = readTrust(releases);
  } catch (error) {
    if (error instanceof RelcatError) return [...error.problems];
    throw error;
  }
  const delegated = trust?.targets.metadata.signed.delegations?.roles;
  if (!delegated) return [];
  const isMissing = (version: string) => !Object.hasOwn(delegated, rolesOfRelease(version).year);
  const missing = Map.groupBy(versions.filter(isMissing), (version) => version.slice(0, 2));
  return [...missing].map(([year, [first = ""]]) => ({
    code: "role-undelegated",
    severity: "warning",
    message: `no role is responsible for releases-${year} yet, so relcat sign will refuse ${first}`,
    hint: moreYears,
    at: { file: `${releases}/${first}/release.yaml`, line: 1, column: 1 },
  }));
}

export type RotatedRole = "root" | "targets" | "online";

/**
 * Replaces one key. If the available keys cannot sign the result, it is stored in `root.pending.json`.
 * @param replaced first digits of the root key's id, if there are several
 * @throws RelcatError trust-missing, trust-damaged, key-untrusted, key-exposed, file-exists, file-access
 */
export async function rotateKey(
  releases: string,
  { role, keys: folder, replaced }: { role: RotatedRole; keys: string; replaced: string | undefined },
  now: number,
): Promise<TrustDelivery> {
  const trust = requireChangeable(releases);
  await refuseExposed(folder);
  const known = keysOf((trust.pending ?? trust.root).metadata.signed);
  const out = role === "root" ? chosenRoot(known.root.keys, replaced) : undefined;
  const version = trust.roots.length + 1;
  // The other keys are read first: after a mistake in one of them, no new key is left behind.
  const signers = exists(folder) ? folderSigners(folder) : [];
  const made = newKeyPem();
  const file = `${role}-v${version}.pem`;
  writeKeys(folder, { [file]: made });
  const own = signerOfPem(made, file);
  const roots = known.root.keys.map((key) => (key === out ? own.publicKey : key));
  const changed = role === "root" ? { root: { ...known.root, keys: roots } } : { [role]: own.publicKey };
  const by = { signers: [...signers, own], years: await years(releases, now), now };
  const change = await changeKeys(trust, { ...known, ...changed }, by);
  // biome-ignore lint/plugin: relcat chose these file names.
  return { written: writeTrust(releases, change), keys: [join(folder, file)], missing: change.missing };
}

function chosenRoot(keys: readonly Uint8Array[], id: string | undefined): Uint8Array {
  const found = id === undefined ? keys : keys.filter((key) => keyId(key).startsWith(id));
  const [only] = found;
  if (found.length === 1 && only) return only;
  throw failure(
    "key-untrusted",
    id === undefined
      ? `there are ${keys.length} root keys, expected the one to replace`
      : `${found.length} root keys begin with ${id}, expected one`,
    `Name it with --replace: ${keys.map((key) => keyId(key).slice(0, 16)).join(", ")}`,
  );
}

/**
 * Signs pending documents, or renews expiring ones, with the keys of a folder.
 * @throws RelcatError trust-missing, trust-damaged, key-unusable, file-access
 */
export async function signTrust(releases: string, { keys: folder }: { keys: string }, now: number) {
  const trust = requireChangeable(releases);
  const by = { signers: folderSigners(folder), years: await years(releases, now), now };
  const change = await signOffline(trust, by);
  return { written: writeTrust(releases, change), keys: [], missing: change.missing };
}

/**
 * Refuses a pending root whose version is complete, as an old branch has it, or that was changed after it was signed.
 * @throws RelcatError trust-missing, trust-damaged
 */
function requireChangeable(releases: string): StoredTrust {
  const trust = requireTrust(releases);
  const { root, pending } = trust;
  if (!pending) return trust;
  const { signed, signatures } = pending.metadata;
  const keys = { ...signed.keys, ...root.metadata.signed.keys };
  const wrong = Object.keys(signatures).find((id) => !hasSigned(keys, id, pending.metadata));
  const next = root.metadata.signed.version + 1;
  if (signed.version === next && wrong === undefined) return trust;
  throw failure(
    "trust-damaged",
    `${trustFolder(releases)}/root.pending.json ${wrong ? `is not what ${wrong.slice(0, 16)} signed` : `has version ${signed.version}, expected ${next}`}`,
    "Remove it. If its change is missing, make it again: relcat trust rotate",
  );
}

/** Roles and keys of the newest root. @throws RelcatError trust-missing */
export function describeTrust(releases: string): { roles: TrustedRole[]; pending: number | undefined } {
  const { targets, pending, ...trust } = requireTrust(releases);
  const { signed: root } = trust.root.metadata;
  const described = (role: string, { version, expires }: Root | Targets): TrustedRole => {
    const { keyIDs = [], threshold = 1 } = root.roles[role] ?? {};
    return { role, version, threshold, keys: keyIDs, expires };
  };
  const roles = [
    described("root", root),
    described("targets", targets.metadata.signed),
    { ...described("timestamp", root), role: "online" },
  ];
  return { roles, pending: pending?.metadata.signed.version };
}
