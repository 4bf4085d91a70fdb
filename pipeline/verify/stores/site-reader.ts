import { join } from "node:path";
import { relativePath } from "../../documents/relative-path.ts";
import { failure, RelcatError } from "../../errors.ts";
import { exists, readIfPresent } from "../../system/files.ts";
import {
  Attention,
  isTemporary,
  networkProblem,
  readLimited,
  unreachable,
} from "../../system/network/download-request.ts";
import { rootFolder } from "../../system/root-folder.ts";

/** What a place answers for one of a site's files. */
export interface Answer {
  status: number;
  /** Lower case; empty for a folder, which has none. */
  headers: Readonly<Record<string, string>>;
  /** After its Content-Encoding was undone. */
  bytes: Uint8Array;
  /** Why the Content-Encoding could not be undone; there are no bytes then. */
  damage?: string;
}

/** A published site, at an address or in a folder. */
export interface SiteReader {
  /** As people gave it. */
  place: string;
  /** Whether it answers with headers. */
  isRemote: boolean;
  /**
   * @param limit bytes; what has more is an error, and the rest of it is not read
   * @throws RelcatError network, site-tampered for what is longer
   */
  read(path: string, limit: number, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

/** A path as part of an address: a query's characters in it would ask for another file. */
export const addressOf = (path: string): string => encodeURI(path).replace(/[?#]/g, encodeURIComponent);

export const isAddress = (place: string): boolean => /^https?:\/\//.test(place);

/** @param place http(s)://…, a folder with or without dir: before it, or a folder that a site is published to */
export function siteAt(place: string): SiteReader {
  if (!isAddress(place)) return siteIn(place.replace(/^dir:/, ""));
  const base = place.replace(/\/+$/, "");
  return {
    place: base,
    isRemote: true,
    async read(path, limit, headers) {
      relativePath(path.replace(/\/$/, "")); // The list is asked for at the address of its folder too.
      return fetchAgain(`${base}/${path}`, limit, headers);
    },
  };
}

/** A folder that a site is published to has the live build behind a link. */
export function liveFolder(folder: string): string {
  const live = join(folder, "current");
  return exists(join(live, "build.json")) && !exists(join(folder, "build.json")) ? live : folder;
}

const siteIn = (given: string): SiteReader => {
  const folder = liveFolder(given);
  return {
    place: given,
    isRemote: false,
    async read(path, limit) {
      const bytes = readIfPresent(rootFolder(folder)(relativePath(path)));
      if (bytes && bytes.length > limit) throw tooLong(path, limit);
      return bytes
        ? { status: 200, headers: {}, bytes }
        : { status: 404, headers: {}, bytes: new Uint8Array() };
    },
  };
};

/** Once more at once: a connection that was kept open may have been closed by the other side meanwhile. */
async function fetchAgain(...request: Parameters<typeof fetchFile>): Promise<Answer> {
  try {
    return await fetchFile(...request);
  } catch (error) {
    if (!(error instanceof RelcatError) || error.code !== "network") throw error;
    return fetchFile(...request);
  }
}

async function fetchFile(
  url: string,
  limit: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const attention = new Attention();
  try {
    const response = await fetch(url, {
      headers: { "accept-encoding": "identity", ...headers },
      redirect: "manual",
      signal: attention.signal,
    });
    if (isTemporary(response.status)) throw unreachable(url, `answered ${response.status}`);
    const answered = { status: response.status, headers: Object.fromEntries(response.headers) };
    try {
      return { ...answered, bytes: await readLimited(response, limit, () => tooLong(url, limit), attention) };
    } catch (error) {
      const damage = damageOf(error);
      if (damage === undefined) throw error;
      return { ...answered, bytes: new Uint8Array(), damage };
    }
  } catch (error) {
    throw networkProblem(url, error, attention);
  } finally {
    attention.end();
  }
}

/** What zlib and brotli say of a body that is not what its Content-Encoding says. */
function damageOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const { code, message } = (cause ?? {}) as NodeJS.ErrnoException;
  return /^(Z_|ERR__ERROR|ERR_BROTLI|ERR_ZLIB|ZSTD_)/.test(code ?? "") ? message : undefined;
}

const tooLong = (what: string, limit: number) =>
  failure(
    "site-tampered",
    `${what} has more than ${limit} bytes, expected at most as many`,
    "Nothing of it was used.",
  );
