import { failure, type Problem } from "../../../shared/errors.ts";
import { url as urlPattern } from "../../../shared/fields.ts";
import { decode, type Source } from "../../../shared/source.ts";
import { deliverLedger, type LedgerContext } from "../../ledger/ledger-file.ts";
import { identity } from "../../ledger/ledger-records.ts";
import { useConfig } from "../../project/config.ts";
import { display } from "../../project/display.ts";
import { eventTime } from "../../project/event-time.ts";
import { replaceDurably } from "../../system/files.ts";
import { inParallel } from "../../system/in-parallel.ts";
import { readInput } from "../../system/input-files.ts";
import { withWriteLock } from "../../system/lock.ts";
import { isSafeStep } from "../../system/network/download-request.ts";
import { fetchBytes, findRedirect, type Redirection, type RetryPolicy } from "../../system/network/fetch.ts";
import { schemasSeenFrom } from "../authoring/new-files.ts";
import { type Existing, readExisting } from "./existing.ts";
import type { Address, Addresses } from "./file-names.ts";
import { decideImport, type ImportOptions, type ImportPlan, importWarnings } from "./import.ts";
import { type LiveRecord, readRecords, recordName } from "./read-records.ts";

export interface ImportRequest extends Pick<ImportOptions, "wire" | "acceptViolations" | "nextId"> {
  /** A file, "-" for standard input, or an http(s) address. */
  source: string;
  /** Download address with the placeholders of artifact_url. */
  downloadUrl?: string | undefined;
  resolveDownloads?: boolean;
  /** Base address of its API, if the source does not imply it. */
  resolveBase?: string | undefined;
}

export interface Import {
  plan: ImportPlan;
  records: LiveRecord[];
  warnings: Problem[];
}

export interface ImportProgress {
  /** Called before download addresses are looked up, and after each. */
  onLookup: OnLookup;
  onWrite(progress: { done: number; total: number }): void;
}

/** Large enough for any catalog: 25,000 records have 22 MB. */
const maxListBytes = 256 * 1024 * 1024;

/**
 * Decides and verifies everything before it writes. The ledger is written last, so a repeated import completes an
 * interrupted one.
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
    const [template, schemas] = [request.downloadUrl, schemasSeenFrom(folder)];
    const plan = decideImport(records, existing, { ...request, addresses, template, schemas }, at);
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

/** The base of `/package/{id}/download/`. @throws RelcatError usage */
export function downloadBase(source: string, given: string | undefined): string {
  const address = given ?? source;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    const message = `downloads are looked up at an http or https address, not ${display(address)}`;
    throw failure("usage", message, "Give the API's address: --resolve-base https://HOST/api/v1");
  }
  const path = url.pathname.replace(/\/+$/, "");
  const list = /^(.*)\/package(?:\.json|\/index\.json)?$/.exec(path)?.[1];
  if (given === undefined && list === undefined) {
    const message = `${url.origin}${url.pathname} does not end in /package/, so its downloads are not known`;
    throw failure("usage", message, "Say where the API is: --resolve-base https://HOST/api/v1");
  }
  return `${url.origin}${list ?? path}`;
}

/** @throws RelcatError usage, with the messages of artifact_url's own validation */
function checkTemplate(template: string): void {
  const place = () => ({ file: "", line: 1, column: 1 });
  const [fault] = useConfig({ file: "", value: { artifact_url: template }, place }).problems;
  const unusable =
    template === "" ? "--download-url is empty" : fault?.message.replace("artifact_url", "--download-url");
  if (unusable) throw failure("usage", unusable, fault?.hint ?? "Give it as artifact_url is written.");
}

const maxConcurrentLookups = 16;

interface Resolved {
  addresses: Addresses;
  /** Failed downloads, and addresses that cannot be stored. */
  problems: Problem[];
}

/** Number of answered requests, and of all. */
type OnLookup = (progress: { done: number; total: number }) => void;

/** @param base from downloadBase @throws RelcatError network at the first request without an answer */
export async function resolveDownloads(
  records: readonly LiveRecord[],
  base: string,
  retry?: RetryPolicy,
  onLookup?: OnLookup,
): Promise<Resolved> {
  let done = 0;
  const answers = await inParallel(records, maxConcurrentLookups, async ({ id }) => {
    const url = `${base}/package/${id}/download/`;
    const redirect = await findRedirect(url, retry);
    onLookup?.({ done: ++done, total: records.length });
    return [id, readAnswer(new URL(url), redirect)] as const;
  });
  const found = new Map<number, Found>(answers);
  const shared = sharedAddresses(records, found);
  const judged = records.map((record) => ({ record, ...(shared.get(record.id) ?? found.get(record.id)) }));
  return {
    addresses: new Map(judged.flatMap(({ record, address }) => (address ? [[record.id, address]] : []))),
    problems: judged.flatMap(({ record, fault }) => (fault ? [unresolved(record, fault)] : [])),
  };
}

interface Found {
  address?: Address;
  fault?: string;
}

/** An address that several files share is a login or error page, not a file. */
function sharedAddresses(
  records: readonly LiveRecord[],
  found: ReadonlyMap<number, Found>,
): Map<number, Found> {
  const groups = Map.groupBy(records, ({ id }) => found.get(id)?.address?.url);
  const shared = new Map<number, Found>();
  for (const [url, group] of groups) {
    if (url === undefined || new Set(group.map(({ checksum }) => checksum)).size === 1) continue;
    for (const { id } of group) {
      shared.set(id, { fault: `leads to the address that ${group.length} records have: ${display(url)}` });
    }
  }
  return shared;
}

const withoutAddress = (records: readonly LiveRecord[], { entries, ledger }: Existing): LiveRecord[] =>
  records.filter(
    ({ id, version }) =>
      entries.get(identity(version, ledger.byId.get(id)?.add.file ?? ""))?.url === undefined,
  );

/** Parameters of signed addresses, which expire and act as credentials. */
const temporary = /^(?:x-(?:amz|goog)-|signature$|sig$|token$|access_?token$|expires$|key-pair-id$|policy$)/i;

function readAnswer(asked: URL, { status, location }: Redirection): Found {
  if (!location) {
    if (status >= 200 && status < 300) return { address: { url: asked.href } };
    return { fault: status < 400 ? `answers ${status} without an address` : `answers ${status}` };
  }
  const file = lastSegment(location);
  location.hash = "";
  const named: Address = file === undefined ? {} : { file };
  if ([...location.searchParams.keys()].some((key) => temporary.test(key))) {
    return { address: named, fault: "leads to an address that expires" };
  }
  if (!isSafeStep(asked, location) || !urlPattern.safeParse(location.href).success) {
    return { fault: `leads to ${display(`${location.protocol}//${location.host}`)}, which cannot be kept` };
  }
  return { address: { ...named, url: location.href } };
}

function lastSegment({ pathname }: URL): string | undefined {
  try {
    return decodeURIComponent(pathname.split("/").at(-1) ?? "") || undefined;
  } catch {
    return undefined;
  }
}

const unresolved = (record: LiveRecord, fault: string): Problem => ({
  code: "download-address",
  severity: "warning",
  message: `${recordName(record)}: its download ${fault}`,
  hint: "Its address is a guess, artifact_url of catalog.yaml: give it a url in its manifest entry.",
});

const addressesAreGuesses = (count: number): Problem => ({
  code: "download-address",
  severity: "warning",
  message: `the download addresses of ${count === 1 ? "1 record" : `${count} records`} are guesses, made from artifact_url of catalog.yaml`,
  hint: "Set artifact_url, or run the import again with --resolve-downloads or --download-url TEMPLATE.",
});
