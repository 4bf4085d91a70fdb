import type { Problem } from "../../../shared/errors.ts";
import { decode, type Source } from "../../../shared/source.ts";
import type { Settings } from "../../documents/config.ts";
import { deliverLedger, type LedgerContext } from "../../ledger/ledger-file.ts";
import { eventTime } from "../../project/event-time.ts";
import { replaceDurably } from "../../system/files.ts";
import { withWriteLock } from "../../system/lock.ts";
import { fetchBytes } from "../../system/network/fetch.ts";
import { readInput } from "../../system/read-input.ts";
import { schemasSeenFrom } from "../authoring/new-files.ts";
import {
  addressesAreGuesses,
  checkTemplate,
  downloadBase,
  type OnLookup,
  type Resolved,
  resolveDownloads,
  withoutAddress,
} from "./downloads.ts";
import { readExisting } from "./existing.ts";
import { decideImport, type ImportPlan, importWarnings } from "./import.ts";
import { type LiveRecord, readRecords } from "./read-records.ts";

export interface ImportRequest {
  /** A file, "-" for standard input, or an http(s) address. */
  source: string;
  wire: Partial<Settings["wire"]>;
  /** Download address with the placeholders of artifact_url. */
  downloadUrl: string | undefined;
  /** Query the live catalog for each file's address. */
  resolveDownloads: boolean;
  /** Base address of its API, if the source does not imply it. */
  resolveBase: string | undefined;
  nextId: number | undefined;
  acceptViolations: boolean;
}

export interface Import {
  plan: ImportPlan;
  records: LiveRecord[];
  warnings: Problem[];
}

/** Calls that tell how far an import is. */
export interface ImportProgress {
  /** Called before download addresses are looked up, and after each. */
  onLookup: OnLookup;
  /** Called after each file that was written. */
  onWrite(progress: { done: number; total: number }): void;
}

/** Large enough for any catalog: 25,000 records have 22 MB. */
const maxListBytes = 256 * 1024 * 1024;

/**
 * Converts a live catalog into releases and ledger lines, or adds its new records. Everything is decided and
 * verified before writing. Files are replaced atomically and the ledger is written last, so a repeated import
 * completes an interrupted one.
 * @throws RelcatError with every problem; see decideImport
 */
export async function importCatalog(
  folder: string,
  request: ImportRequest,
  context: LedgerContext,
  { onLookup, onWrite }: ImportProgress,
): Promise<Import> {
  if (request.downloadUrl !== undefined) checkTemplate(request.downloadUrl);
  const base = request.resolveDownloads ? downloadBase(request.source, request.resolveBase) : undefined;
  const records = readRecords(await readSource(request.source));
  // Done before taking the lock, so that others do not wait for the network.
  const { addresses, problems } = await resolve(records, folder, base, onLookup);
  return withWriteLock(folder, context, async () => {
    const existing = await readExisting(folder);
    await context.proveLedger?.(existing.ledger);
    const at = eventTime(context.clock, context.explicitTime, existing.ledger.newest);
    const { wire, acceptViolations, nextId, downloadUrl: template } = request;
    const schemas = schemasSeenFrom(folder);
    const plan = decideImport(
      records,
      existing,
      { addresses, template, wire, acceptViolations, nextId, schemas },
      at,
    );
    deliver(folder, plan, onWrite, context.dryRun);
    const guessed = base === undefined && template === undefined ? plan.match.added.length : 0;
    const guesses = guessed > 0 ? [addressesAreGuesses(guessed)] : [];
    return { plan, records, warnings: [...importWarnings(plan), ...problems, ...guesses] };
  });
}

async function readSource(source: string): Promise<Source> {
  const isUrl = /^https?:\/\//i.test(source);
  const bytes = isUrl ? await fetchBytes(source, maxListBytes) : await readInput(source, maxListBytes);
  return decode(source === "-" ? "standard input" : source, bytes, maxListBytes);
}

async function resolve(
  records: readonly LiveRecord[],
  folder: string,
  base: string | undefined,
  onLookup: OnLookup,
): Promise<Resolved> {
  if (base === undefined) return { addresses: new Map(), problems: [] };
  const open = withoutAddress(records, await readExisting(folder));
  onLookup({ done: 0, total: open.length });
  return resolveDownloads(open, base, undefined, onLookup);
}

function deliver(
  folder: string,
  { files, ledger }: ImportPlan,
  onWrite: ImportProgress["onWrite"],
  dryRun?: boolean,
): void {
  const encoder = new TextEncoder();
  const written = dryRun ? [] : files;
  for (const [index, { path, text }] of written.entries()) {
    // biome-ignore lint/plugin: the import builds these paths from validated versions.
    replaceDurably(`${folder}/${path}`, encoder.encode(text));
    onWrite({ done: index + 1, total: written.length });
  }
  deliverLedger(folder, ledger, dryRun);
}
