import { failure } from "../../../shared/errors.ts";
import type { FeedKeysDocument } from "../../documents/feeds/keys.ts";

export type ListedFeedKey = FeedKeysDocument["keys"][number];

/** Steps that replace a key without locking out clients that know only the old one. */
const rotationSteps = ["announce", "sign", "retire"] as const;
export type RotationStep = (typeof rotationSteps)[number];

type Keys = readonly ListedFeedKey[];

/** Adds a key that clients learn of and that signs nothing yet. @throws RelcatError trust-exists, trust-missing */
export function announceKey(keys: Keys, fingerprint: string, since: string): ListedFeedKey[] {
  const waiting = keys.find(({ state }) => state === "announced");
  if (waiting)
    throw failure(
      "trust-exists",
      `the OpenPGP key ${waiting.fingerprint} is announced since ${waiting.since.slice(0, 10)}`,
      "Let it sign first: relcat trust rotate openpgp --step sign",
    );
  if (keys.length === 0)
    throw failure(
      "trust-missing",
      "there is no OpenPGP key to rotate",
      "Start with: relcat trust init KEYS-FOLDER --openpgp",
    );
  return [...keys, { fingerprint, state: "announced", since }];
}

/** From now on the announced key signs too. @throws RelcatError trust-missing */
export function letSign(keys: Keys, since: string): [ListedFeedKey[], changed: ListedFeedKey] {
  const key = keys.find(({ state }) => state === "announced");
  if (key) return changedTo(keys, { ...key, state: "signing", since });
  throw failure(
    "trust-missing",
    "no OpenPGP key is announced",
    "Announce one first, so that clients can learn of it: relcat trust rotate openpgp --step announce --keys KEYS",
  );
}

/** From now on the oldest key signs nothing, and clients do not get it any more. @throws RelcatError trust-missing */
export function retireOldest(keys: Keys, since: string): [ListedFeedKey[], changed: ListedFeedKey] {
  const [oldest, next] = keys.filter(({ state }) => state === "signing");
  if (oldest && next) return changedTo(keys, { ...oldest, state: "retired", since });
  throw failure(
    "trust-missing",
    oldest
      ? `only the OpenPGP key ${oldest.fingerprint} signs, and none would be left`
      : "no OpenPGP key signs",
    "Let the next key sign first: relcat trust rotate openpgp --step sign",
  );
}

const changedTo = (keys: Keys, changed: ListedFeedKey): [ListedFeedKey[], changed: ListedFeedKey] => [
  keys.map((key) => (key.fingerprint === changed.fingerprint ? changed : key)),
  changed,
];
