import type { FileSignature, Inspection } from "../../pipeline/policy/inspect-files.ts";
import { checksOf } from "./inspection-checks.ts";

export interface Detail {
  title: string;
  text: string;
}

const maxShown = 20;

/** Details for people: reason or checks, signer, facts, and content. */
export function detailsOf(inspection: Inspection): Detail[] {
  const { verdict, type, reason, notes, file_signatures: files } = inspection;
  const shown = files.slice(0, maxShown).map((file) => ({ title: "inside", text: insideOf(file) }));
  const more = files.length - shown.length;
  return [
    verdict === "ok" ? { title: "checked", text: checksOf(type) } : { title: "reason", text: reason },
    ...signerOf(inspection),
    ...factsOf(inspection),
    ...selfCheckOf(inspection),
    ...shown,
    ...(more > 0 ? [{ title: "inside", text: `and ${more} more` }] : []),
    ...notes.map((text) => ({ title: "note", text })),
  ];
}

/** Unless the verdict is `ok`, the signer is only a claim. */
function signerOf({ verdict, key_id, signature }: Inspection): Detail[] {
  const title = verdict === "ok" ? "signed by" : "claims";
  const known = `${signature?.signer} ${signature?.display}`;
  const key = key_id === null || known.includes(key_id) ? [] : [`key ${key_id}`];
  const words = signature ? [signature.signer, ...key, signature.display] : key;
  return words.length === 0 ? [] : [{ title, text: words.join(", ") }];
}

function factsOf({ facts }: Inspection): Detail[] {
  const plain = Object.entries(facts).filter(([, value]) => value !== null && typeof value !== "object");
  const words = plain.map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
  return words.length === 0 ? [] : [{ title: "says", text: words.join(", ") }];
}

function selfCheckOf({ cryptolib_post: post }: Inspection): Detail[] {
  if (!post) return [];
  const text = "expected_hash" in post ? post.expected_hash : perArch(post.expected_hash_per_arch);
  return [{ title: "self-check", text }];
}

function insideOf({ name, verdict, signature }: FileSignature): string {
  const words = [name, verdict];
  if (signature?.signer) words.push(signature.signer);
  if (signature)
    words.push("fingerprint" in signature ? signature.fingerprint : perArch(signature.fingerprint_per_arch));
  return words.join(", ");
}

const perArch = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([arch, value]) => `${arch} ${value}`)
    .join(", ");
