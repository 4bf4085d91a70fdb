import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { failure, type Problem, throwErrors } from "../../../shared/errors.ts";
import type { Settings } from "../../documents/config.ts";
import { agree, type Claim, type Evidence, problem, type StoreObject } from "./evidence.ts";
import { readSidecars, type Sidecars } from "./formats/sidecars.ts";
import { narHashOf } from "./formats/store-path.ts";
import { type Job, join } from "./join.ts";

interface Stated {
  release: string | undefined;
  /** Chooses the release if nothing names one. */
  openRelease?: (() => Promise<string>) | undefined;
  revision: string | undefined;
}

/** One job of one release, after merging all inputs with the stated values. */
export interface MergedEvidence {
  version: string;
  job: Job;
  sidecars: Sidecars;
  revision: string | undefined;
}

/** @throws RelcatError with every contradiction; usage without a release; input-empty */
export async function mergeEvidence(
  evidence: Evidence,
  stated: Stated,
  config: Settings,
): Promise<MergedEvidence> {
  const { job, problems } = join(evidence);
  const { sidecars, problems: sidecarProblems } = await readSidecars(evidence.sidecars, evidence.files);
  problems.push(...evidence.problems, ...sidecarProblems);
  problems.push(...signatureProblems(evidence.objects, config.trustedKeys));
  const { revisions, releases } = evidence;
  const revision = settle("the revision", revisions, stated.revision, "--rev", "ingest-conflict", problems);
  const named = settle("the release", releases, stated.release, "--release", "release-mismatch", problems);
  throwErrors(problems);
  const version = named ?? (await stated.openRelease?.());
  if (version === undefined) {
    const hint = "Say which one these artifacts belong to: --release 26.08.002.";
    throw failure("usage", "the release is not given", hint);
  }
  if (job.files.length === 0) throw nothingFound(evidence);
  return { version, job, sidecars, revision };
}

/** Uses the stated value, else that of the inputs, which must agree. */
function settle(
  what: string,
  claims: readonly Claim<string>[],
  stated: string | undefined,
  flag: string,
  code: Problem["code"],
  problems: Problem[],
): string | undefined {
  if (stated === undefined) return agree(what, claims, problems)?.value;
  for (const { value, at } of claims) {
    if (value === stated) continue;
    const message = `${what} is ${value} here, but ${stated} in ${flag}`;
    problems.push(problem(code, at, message, "Give only inputs that belong together."));
  }
  return stated;
}

function nothingFound({ leftOut }: Evidence) {
  const seen = leftOut.length > 0 ? `; left out: ${[...new Set(leftOut)].sort().join(", ")}` : "";
  const message = `no input names a file for download${seen}`;
  return failure("input-empty", message, "Give the files, an output folder, or a checksum file with --sums.");
}

/** The text that a store path's signature covers; undefined for a hash other than SHA-256. */
export function fingerprint({ path, narHash, narSize, references }: StoreObject): string | undefined {
  const hash = narHashOf(narHash);
  if (hash === undefined) return undefined;
  return `1;${path};${hash};${narSize};${[...references].sort().join(",")}`;
}

/** Without keys, no signature is required. @param trustedKeys `name:base64` of Ed25519 public keys */
export function signatureProblems(
  objects: readonly StoreObject[],
  trustedKeys: readonly string[],
): Problem[] {
  if (trustedKeys.length === 0) return [];
  const keys = new Map(trustedKeys.map((key) => [nameOf(key), publicKey(key)]));
  return objects.flatMap((object) => {
    const fault = faultOf(object, keys);
    if (fault === undefined) return [];
    const hint = `Take it from a store that signs with ${[...keys.keys()].join(" or ")}, or correct nix.trusted_keys in catalog.yaml.`;
    return [problem("nix-signature", object.at, `${object.path} ${fault}`, hint)];
  });
}

function faultOf(object: StoreObject, keys: ReadonlyMap<string, KeyObject>): string | undefined {
  const text = fingerprint(object);
  if (text === undefined) return `has the narHash ${object.narHash}, which is not a SHA-256`;
  if (object.signatures.length === 0) return "is not signed";
  const trusted = object.signatures.filter((signature) => keys.has(nameOf(signature)));
  if (trusted.length === 0)
    return `is signed by ${object.signatures.map(nameOf).join(", ")}, which is not trusted`;
  const isValid = (signature: string) => {
    const key = keys.get(nameOf(signature));
    return key !== undefined && verify(null, Buffer.from(text), key, bytesOf(signature));
  };
  if (trusted.some(isValid)) return undefined;
  return `has a signature of ${trusted.map(nameOf).join(", ")} that does not match it: path, hash, size or references were changed`;
}

const nameOf = (named: string) => named.slice(0, named.indexOf(":"));
const bytesOf = (named: string) => Buffer.from(named.slice(named.indexOf(":") + 1), "base64");

const publicKey = (key: string): KeyObject =>
  createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: bytesOf(key).toString("base64url") },
    format: "jwk",
  });
