import { join } from "node:path";
import { failure } from "../../shared/errors.ts";
import type { KeyedSettings } from "../documents/config.ts";
import type { FeedKeysDocument } from "../documents/feeds/keys.ts";
import type { FeedKeyDelivery } from "../documents/outputs/trust.ts";
import type { ProjectSettings } from "../project/settings.ts";
import { readCertificate, requireCertificates } from "./feeds/certificates.ts";
import { dateOf } from "./roles.ts";
import { readCertificateFile, writeFeedKeys } from "./stores/feed-key-files.ts";
import { refuseExposed, writeKeys } from "./stores/trust-folder.ts";

/** Where a new key comes from. */
export interface NewFeedKey {
  /** Folder for the private key of a new pair. */
  keys?: string | undefined;
  /** File with the certificate of a key that a program holds. */
  certificate?: string | undefined;
}

/**
 * Makes the first key that signs package repositories, or takes over the certificate of an existing one.
 * @param now milliseconds since 1970
 * @throws RelcatError trust-exists, key-exposed, feed-key, file-exists, file-access
 */
export async function beginFeedKeys(
  { folder: releases, config }: ProjectSettings,
  source: NewFeedKey,
  now: number,
): Promise<FeedKeyDelivery> {
  if (config.feedKeys.length > 0) {
    const hint = "Change it instead: relcat trust rotate openpgp --step announce --keys KEYS";
    throw failure("trust-exists", `${releases}/trust/openpgp already has a key`, hint);
  }
  const made = await newKey(config, source, now);
  const key = { fingerprint: made.fingerprint, state: "signing", since: dateOf(now) } as const;
  return { ...key, written: writeFeedKeys(releases, [key], made), keys: made.keys };
}

/**
 * One step of a rotation; clients that were set up before it keep working until the old key is retired.
 * @param now milliseconds since 1970
 * @throws RelcatError trust-exists, trust-missing, key-exposed, feed-key, file-exists, file-access
 */
export async function rotateFeedKey(
  { folder: releases, config }: ProjectSettings,
  step: RotationStep,
  source: NewFeedKey,
  now: number,
): Promise<FeedKeyDelivery> {
  const keys = config.feedKeys.map(({ fingerprint, state, since }) => ({ fingerprint, state, since }));
  const since = dateOf(now);
  if (step !== "announce") {
    const changed: ListedFeedKey =
      step === "sign"
        ? { ...announced(keys), state: "signing", since }
        : { ...oldest(keys), state: "retired", since };
    const next = keys.map((each) => (each.fingerprint === changed.fingerprint ? changed : each));
    return { ...changed, written: writeFeedKeys(releases, next), keys: [] };
  }
  refuseAnnouncement(keys);
  const made = await newKey(config, source, now);
  const key = { fingerprint: made.fingerprint, state: "announced", since } as const;
  return { ...key, written: writeFeedKeys(releases, [...keys, key], made), keys: made.keys };
}

/** @returns its certificate, and the files of its private key */
async function newKey(config: KeyedSettings, { keys: folder, certificate }: NewFeedKey, now: number) {
  if (certificate !== undefined) return givenKey(certificate, config, now);
  if (folder === undefined) throw new TypeError("expected a folder or a certificate");
  await refuseExposed(folder);
  const count = config.feedKeys.length;
  const name = count === 0 ? "openpgp.asc" : `openpgp-v${count + 1}.asc`;
  const { generateKey } = await import("openpgp");
  const { privateKey, publicKey } = await generateKey({
    type: "rsa",
    rsaBits: 4096,
    userIDs: [{ name: `${config.product} package repository`, email: `releases@${config.authority}` }],
    subkeys: [],
    date: new Date(now),
    config: { nonDeterministicSignaturesViaNotation: false },
  });
  const { fingerprint } = await readCertificate(publicKey);
  writeKeys(folder, { [name]: privateKey });
  // biome-ignore lint/plugin: relcat chose this file name.
  return { fingerprint, armored: publicKey, keys: [join(folder, name)] };
}

async function givenKey(file: string, { feedKeys }: KeyedSettings, now: number) {
  const armored = readCertificateFile(file);
  const { fingerprint } = await readCertificate(armored).catch((error: unknown) => {
    throw failure(
      "feed-key",
      `${file} is not an OpenPGP certificate: ${error instanceof Error ? error.message : error}`,
      "Export it: gpg --armor --export KEY",
      undefined,
      error,
    );
  });
  if (feedKeys.some((key) => key.fingerprint === fingerprint))
    throw failure(
      "trust-exists",
      `the OpenPGP key ${fingerprint} is already listed`,
      "Give another certificate.",
    );
  await requireCertificates([{ fingerprint, armored, state: "announced", since: dateOf(now) }], now);
  return { fingerprint, armored, keys: [] };
}

type ListedFeedKey = FeedKeysDocument["keys"][number];

/** Steps that replace a key without locking out clients that know only the old one. */
const rotationSteps = ["announce", "sign", "retire"] as const;
export type RotationStep = (typeof rotationSteps)[number];

type Keys = readonly ListedFeedKey[];

/** An announced key signs nothing yet: clients learn of it first. @throws RelcatError trust-exists, trust-missing */
function refuseAnnouncement(keys: Keys): void {
  const waiting = keys.find(({ state }) => state === "announced");
  if (waiting)
    throw failure(
      "trust-exists",
      `the OpenPGP key ${waiting.fingerprint} has been announced since ${waiting.since.slice(0, 10)}`,
      "Let it sign first: relcat trust rotate openpgp --step sign",
    );
  if (keys.length === 0)
    throw failure(
      "trust-missing",
      "there is no OpenPGP key to rotate",
      "Start with: relcat trust init KEYS-FOLDER --openpgp",
    );
}

/** The key that signs from now on. @throws RelcatError trust-missing */
function announced(keys: Keys): ListedFeedKey {
  const key = keys.find(({ state }) => state === "announced");
  if (key) return key;
  const hint =
    "Announce one first, so that clients can learn of it: relcat trust rotate openpgp --step announce --keys KEYS";
  throw failure("trust-missing", "no OpenPGP key is announced", hint);
}

/** The key that signs nothing from now on, and that clients no longer get. @throws RelcatError trust-missing */
function oldest(keys: Keys): ListedFeedKey {
  const [first, next] = keys.filter(({ state }) => state === "signing");
  if (first && next) return first;
  throw failure(
    "trust-missing",
    first
      ? `only the OpenPGP key ${first.fingerprint} signs, and none would be left`
      : "no OpenPGP key signs",
    "Let the next key sign first: relcat trust rotate openpgp --step sign",
  );
}
