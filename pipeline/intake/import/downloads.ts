import { failure, type Problem } from "../../../shared/errors.ts";
import { url as urlPattern } from "../../../shared/fields.ts";
import { identity } from "../../ledger/ledger-records.ts";
import { useConfig } from "../../project/config.ts";
import { display } from "../../project/display.ts";
import { inParallel } from "../../system/in-parallel.ts";
import { isSafeStep } from "../../system/network/download-request.ts";
import { findRedirect, type Redirection, type RetryPolicy } from "../../system/network/fetch.ts";
import type { Existing } from "./existing.ts";
import type { Address, Addresses } from "./file-names.ts";
import type { LiveRecord } from "./read-records.ts";

/**
 * Base of `/package/{id}/download/`, derived from a list's address.
 * @throws RelcatError usage
 */
export function downloadBase(source: string, given: string | undefined): string {
  const address = given ?? source;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    const hint = "Give the API's address: --resolve-base https://HOST/api/v1";
    throw failure(
      "usage",
      `downloads are looked up at an http or https address, not ${display(address)}`,
      hint,
    );
  }
  const path = url.pathname.replace(/\/+$/, "");
  const list = /^(.*)\/package(?:\.json|\/index\.json)?$/.exec(path)?.[1];
  if (given === undefined && list === undefined) {
    const hint = "Say where the API is: --resolve-base https://HOST/api/v1";
    throw failure(
      "usage",
      `${url.origin}${url.pathname} does not end in /package/, so its downloads are not known`,
      hint,
    );
  }
  return `${url.origin}${list ?? path}`;
}

/** @throws RelcatError usage, with the messages of artifact_url's own validation */
export function checkTemplate(template: string): void {
  const place = () => ({ file: "", line: 1, column: 1 });
  const [fault] = useConfig({ file: "", value: { artifact_url: template }, place }).problems;
  const unusable =
    template === "" ? "--download-url is empty" : fault?.message.replace("artifact_url", "--download-url");
  if (unusable) throw failure("usage", unusable, fault?.hint ?? "Give it as artifact_url is written.");
}

const maxConcurrentLookups = 16;

export interface Resolved {
  addresses: Addresses;
  /** Failed downloads, and addresses that cannot be stored. */
  problems: Problem[];
}

/** Number of answered requests, and of all. */
export type OnLookup = (progress: { done: number; total: number }) => void;

/**
 * Queries the live catalog for the addresses of records that lack one.
 * @param base from downloadBase
 * @throws RelcatError network at the first request without an answer
 */
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

/** Records whose entry does not have an explicit address. */
export const withoutAddress = (records: readonly LiveRecord[], { entries, ledger }: Existing): LiveRecord[] =>
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

const unresolved = ({ id, name, version }: LiveRecord, fault: string): Problem => ({
  code: "download-address",
  severity: "warning",
  message: `record ${id} (${display(name)} of ${version}): its download ${fault}`,
  hint: "Its address is a guess, artifact_url of catalog.yaml: give it a url in its manifest entry.",
});

/** Warning: without a template or a lookup, the addresses are unknown. */
export const addressesAreGuesses = (count: number): Problem => ({
  code: "download-address",
  severity: "warning",
  message: `the download addresses of ${count === 1 ? "1 record" : `${count} records`} are guesses, made from artifact_url of catalog.yaml`,
  hint: "Set artifact_url, or run the import again with --resolve-downloads or --download-url TEMPLATE.",
});
