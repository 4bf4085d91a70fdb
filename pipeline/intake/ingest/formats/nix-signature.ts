import { createPublicKey, type KeyObject, verify } from "node:crypto";
import type { Problem } from "../../../../shared/errors.ts";
import { problem, type StoreObject } from "../evidence.ts";
import { narHashOf } from "./nix-hash.ts";

/**
 * The text that a store path's signature covers: path, content and references; undefined for a hash other
 * than SHA-256.
 */
export function fingerprint({ path, narHash, narSize, references }: StoreObject): string | undefined {
  const hash = narHashOf(narHash);
  if (hash === undefined) return undefined;
  return `1;${path};${hash};${narSize};${[...references].sort().join(",")}`;
}

/**
 * Reports store objects that no trusted key signed. Without keys, no signature is required.
 * @param trustedKeys `name:base64` of Ed25519 public keys
 */
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
