import type { Config } from "../documents/config.ts";
import { type BuildDocument, buildSchema } from "../documents/site.ts";
import { failure, RelcatError } from "../errors.ts";
import { readRecords } from "../intake/import/read-records.ts";
import { decode } from "../project/source.ts";
import { readIfPresent } from "../system/files.ts";
import { lookAt } from "../system/input-files.ts";
import { fetchBytes } from "../system/network/fetch.ts";
import { readInput, refuseScheme } from "../system/read-input.ts";
import type { Baseline } from "./baseline.ts";
import { snapshotOfList } from "./snapshot.ts";
import { liveWire } from "./wire.ts";

const listPath = "api/v1/package/";

const notComparable = "Nothing can be compared with it: is it the list of a catalog, whole and unchanged?";

/** 25,000 records have 22 MB. */
const mostBytes = 256 * 1024 * 1024;

/** A published catalog, as bytes. */
interface Live {
  name: string;
  /** The list and where it was read. */
  list: Uint8Array;
  listName: string;
  /** build.json, where it can be read. */
  build: Uint8Array | undefined;
}

/**
 * What is live: a built folder, a site's address, or a file with the list alone.
 * @param ours our key names inside `data`: those that count where the live records show none
 * @throws RelcatError input-missing, network, import-list, import-record …
 */
export async function liveBaseline(against: string, ours: Config["wire"]): Promise<Baseline> {
  const { name, list, listName, build } = await readLive(against);
  const records = readRecords(decode(listName, list, mostBytes), notComparable);
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
  const { kind } = lookAt(against);
  if (kind === "missing") {
    throw failure(
      "input-missing",
      `there is no ${against} here`,
      "Give --against a built folder, an address starting with https://, or a file with the list.",
    );
  }
  if (kind === "folder") return readFolder(against.replace(/(.)\/+$/, "$1"));
  return { name: against, list: await readInput(against, mostBytes), listName: against, build: undefined };
}

function readFolder(folder: string): Live {
  const listName = `${folder}/${listPath}index.json`;
  const list = readIfPresent(listName);
  if (list) return { name: folder, list, listName, build: readIfPresent(`${folder}/build.json`) };
  const message = `${folder} has no ${listPath}index.json, expected a folder that relcat build made`;
  throw failure("input-missing", message, "Build into it first, or give the address of the site.");
}

/** Without query and fragment, ending in a slash. */
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
  const answer = await fetchBytes(address, mostBytes);
  // A plain file host knows no Accept: it has the page under the address, and the list beside it.
  const isPage = /^\s*</.test(new TextDecoder().decode(answer.subarray(0, 100)));
  const list = isPage ? await fetchBytes(`${address}index.json`, mostBytes) : answer;
  const build = await fetchBytes(new URL("build.json", site).href, mostBytes).catch(ifRefused);
  return { name: site.href, list, listName: address, build };
}

/** A catalog that relcat did not build has no such file. */
function ifRefused(error: unknown): undefined {
  if (error instanceof RelcatError) return undefined;
  throw error;
}

/** A server may answer a page for every path: what is no build document is none. */
function readBuild(bytes: Uint8Array): BuildDocument | undefined {
  try {
    return buildSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}
