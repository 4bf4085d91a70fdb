import { failure, RelcatError } from "../../shared/errors.ts";
import { decode } from "../../shared/source.ts";
import type { Config } from "../documents/config.ts";
import { type BuildDocument, buildSchema } from "../documents/site.ts";
import { readRecords } from "../intake/import/read-records.ts";
import { readIfPresent } from "../system/files.ts";
import { pathInfo } from "../system/input-files.ts";
import { fetchBytes } from "../system/network/fetch.ts";
import { readInput, refuseScheme } from "../system/read-input.ts";
import type { Baseline } from "./baseline.ts";
import { snapshotOfList } from "./snapshot.ts";
import { liveWire } from "./wire.ts";

const listPath = "api/v1/package/";

const notComparable = "Nothing can be compared with it. Is it the complete, unchanged list of a catalog?";

/** Large enough for any catalog: 25,000 records have 22 MB. */
const maxListBytes = 256 * 1024 * 1024;

/** A published catalog, as bytes. */
interface Live {
  name: string;
  /** The list and its source. */
  list: Uint8Array;
  listName: string;
  /** build.json, if readable. */
  build: Uint8Array | undefined;
}

/**
 * Reads the live catalog from a built folder, a site's address, or a file with the list.
 * @param ours our key names inside `data`, used if the live records contain none
 * @throws RelcatError input-missing, network, import-list, import-record …
 */
export async function liveBaseline(against: string, ours: Config["wire"]): Promise<Baseline> {
  const { name, list, listName, build } = await readLive(against);
  const records = readRecords(decode(listName, list, maxListBytes), notComparable);
  const site = build && readBuild(build);
  return {
    kind: "live",
    name,
    commit: null,
    snapshot: snapshotOfList(records),
    wire: liveWire(records, ours),
    provisional: new Set(site?.provisional),
    documents: site && new Map(Object.entries(site.files).map(([path, { sha256 }]) => [path, sha256])),
    problems: 0,
  };
}

async function readLive(against: string): Promise<Live> {
  if (/^https?:\/\//i.test(against)) return readSite(siteAddress(against));
  refuseScheme(against);
  const { kind } = pathInfo(against);
  if (kind === "missing") {
    throw failure(
      "input-missing",
      `there is no ${against} here`,
      "Give --against a built folder, an address starting with https://, or a file with the list.",
    );
  }
  if (kind === "folder") return readFolder(against.replace(/(.)\/+$/, "$1"));
  return { name: against, list: await readInput(against, maxListBytes), listName: against, build: undefined };
}

function readFolder(folder: string): Live {
  const listName = `${folder}/${listPath}index.json`;
  const list = readIfPresent(listName);
  if (list) return { name: folder, list, listName, build: readIfPresent(`${folder}/build.json`) };
  const message = `${folder} has no ${listPath}index.json, expected a folder that relcat build made`;
  throw failure("input-missing", message, "Build into it first, or give the address of the site.");
}

/** Strips query and fragment, and ends with a slash. */
function siteAddress(against: string): URL {
  const url = URL.canParse(against) ? new URL(against) : undefined;
  if (url?.username !== "" || url.password !== "") {
    throw failure(
      "usage",
      url ? "the address given with --against has credentials in it" : `${against} is not an address`,
      "Give a plain address such as https://downloads.example.com; a list that needs a login can be saved and given as a file.",
    );
  }
  const path = url.pathname.replace(/\/*$/, "/").replace(new RegExp(`/${listPath}$`), "/");
  return new URL(path, url.origin);
}

async function readSite(site: URL): Promise<Live> {
  const address = new URL(listPath, site).href;
  const answer = await fetchBytes(address, maxListBytes);
  // A plain file host ignores Accept and returns a page, so the list's file is requested.
  const isPage = /^\s*</.test(new TextDecoder().decode(answer.subarray(0, 100)));
  const list = isPage ? await fetchBytes(`${address}index.json`, maxListBytes) : answer;
  const build = await fetchBytes(new URL("build.json", site).href, maxListBytes).catch(ifRefused);
  return { name: site.href, list, listName: address, build };
}

/** Catalogs of other tools have no build.json. */
function ifRefused(error: unknown): undefined {
  if (error instanceof RelcatError) return undefined;
  throw error;
}

/** Some servers return a page for every path, so an invalid build document counts as missing. */
function readBuild(bytes: Uint8Array): BuildDocument | undefined {
  try {
    return buildSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}
