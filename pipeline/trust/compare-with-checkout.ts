import { createHash } from "node:crypto";
import { failure } from "../../shared/errors.ts";
import type { OutputFile } from "../documents/published.ts";
import type { BuildCopies, BuildDocument } from "../documents/site.ts";
import { earlierCommit } from "../ledger/earlier-commit.ts";
import { readLedgerNow } from "../ledger/ledger-file.ts";
import type { ProjectSettings } from "../project/settings.ts";
import { buildCatalog, type Site } from "../site/whole-site.ts";
import { refuseStaleBuild } from "./built-site.ts";

/** Number of compared files, and of the files of the build. */
export type OnCompared = (progress: { done: number; total: number }) => void;

/**
 * Rebuilds the site from the checkout without a cache and compares it with the build to be signed, so that
 * neither a wrong cache nor an earlier job can add content to a signed site.
 * @param out folder of the build, for messages
 * @throws RelcatError build-unproved, naming the first different file; build-stale
 */
export async function refuseOtherThanCheckout(
  { folder: releases, config }: ProjectSettings,
  out: string,
  document: BuildDocument,
  onCompared?: OnCompared,
): Promise<void> {
  const ledger = readLedgerNow(releases);
  refuseStaleBuild(document, ledger);
  const { base_url, at } = document;
  const name = [...config.sites.values()].find(({ baseUrl }) => baseUrl === base_url)?.name;
  const earlier = at === undefined ? undefined : await earlierCommit(releases, at, ledger);
  const { site } = await buildCatalog(releases, { released: true, site: name }, earlier?.files);
  if (site.config.baseUrl !== base_url)
    throw unproved(out, `is built for ${base_url}, which is the address of no site in catalog.yaml`);
  if (at !== undefined && earlier?.commit !== at)
    throw unproved(out, `names ${at}, which is not a whole commit id`);
  const differing = differingFiles(site, document, onCompared);
  const [first] = differing;
  if (first === undefined) return;
  const more = differing.length > 1 ? `, and so are ${differing.length - 1} more files` : "";
  throw unproved(`${out}/${first}`, `is not what this checkout builds${more}`);
}

/** Paths that differ or exist on one side only; ascending. */
function differingFiles(
  site: Site,
  { files, copies = {} }: BuildDocument,
  onCompared?: OnCompared,
): string[] {
  const missing = new Set(Object.keys(files));
  const total = missing.size;
  const differing: string[] = [];
  for (const file of site.files) {
    const known = missing.delete(file.path) ? files[file.path] : undefined;
    if (known?.sha256 !== digestOf(file)) differing.push(file.path);
    onCompared?.({ done: total - missing.size, total });
  }
  return [...differing, ...missing, ...differingCopies(site.copies, copies)].sort();
}

function differingCopies(made: BuildCopies, known: BuildCopies): string[] {
  const textOf = (copies: BuildCopies, path: string) => {
    const copy = Object.hasOwn(copies, path) ? copies[path] : undefined;
    return copy && [copy.from, copy.sha256, copy.size].join("\n");
  };
  const paths = new Set([...Object.keys(made), ...Object.keys(known)]);
  return [...paths].filter((path) => textOf(made, path) !== textOf(known, path));
}

function digestOf({ chunks }: OutputFile): string {
  const hash = createHash("sha256");
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest("hex");
}

const unproved = (what: string, reason: string) =>
  failure(
    "build-unproved",
    `${what} ${reason}`,
    "Nothing was signed. Build again from this checkout, with this version of relcat: relcat build --released. If that changes nothing, remove .relcat-cache.",
  );
