import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { failure, RelcatError } from "../../../shared/errors.ts";
import { relativePath } from "../../documents/relative-path.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { exists, readIfPresent } from "../../system/files.ts";
import { isTemporary, readLimited, requesting, unreachable } from "../../system/network/download-request.ts";
import { isAddress } from "../../system/network/download-stream.ts";
import { rootFolder } from "../../system/root-folder.ts";

export interface Answer {
  status: number;
  /** Lower-case names; empty for a folder. */
  headers: Readonly<Record<string, string>>;
  /** Decoded according to Content-Encoding. */
  bytes: Uint8Array;
  /** The error if decoding failed; then there are no bytes. */
  damage?: string;
}

/** A published site, at an address or in a folder. */
export interface SiteReader {
  /** As the user wrote it. */
  place: string;
  /** True if answers have headers. */
  isRemote: boolean;
  /** @param limit bytes @throws RelcatError network; site-tampered beyond the limit */
  read(path: string, limit: number, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

/** Encodes a path for a URL; `?` and `#` would otherwise start a query or fragment. */
export const addressOf = (path: string): string => encodeURI(path).replace(/[?#]/g, encodeURIComponent);

/** @param place http(s)://…, a folder with or without the prefix dir:, or a publish target */
export function siteAt(place: string): SiteReader {
  if (!isAddress(place)) return siteIn(place.replace(/^dir:/, ""));
  const base = place.replace(/\/+$/, "");
  return {
    place: base,
    isRemote: true,
    async read(path, limit, headers) {
      relativePath(path.replace(/\/$/, "")); // The list is also served at the address of its folder.
      return fetchAgain(`${base}/${path}`, limit, headers);
    },
  };
}

/** In a publish target, a link leads to the live build. */
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

/**
 * Files of `hosting/` by path in build.json, if there are any. A publish target has them next to the live build.
 * @throws RelcatError file-access
 */
export function readHosting(place: string): Map<string, Uint8Array> | undefined {
  const folder = hostingFolder(liveFolder(place.replace(/^dir:/, "")));
  if (folder === undefined) return undefined;
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      // biome-ignore lint/plugin: these names come from listing the folder itself.
      .map((entry) => join(entry.parentPath, entry.name));
    return new Map(
      entries.sort().map((file) => [`hosting/${file.slice(folder.length + 1)}`, readFileSync(file)]),
    );
  } catch (error) {
    throw accessFailure(`cannot read ${folder}`, error);
  }
}

function hostingFolder(live: string): string | undefined {
  const inside = join(live, "hosting");
  if (exists(inside)) return inside;
  const build = realpathSync(live);
  const site = dirname(dirname(build));
  const hosting = join(site, "hosting");
  const isLive = basename(dirname(build)) === "builds" && exists(join(site, "current"));
  return isLive && realpathSync(join(site, "current")) === build && exists(hosting) ? hosting : undefined;
}

/** Retries once, immediately, because the server may have closed a kept-alive connection. */
async function fetchAgain(...request: Parameters<typeof fetchFile>): Promise<Answer> {
  try {
    return await fetchFile(...request);
  } catch (error) {
    if (!(error instanceof RelcatError) || error.code !== "network") throw error;
    return fetchFile(...request);
  }
}

const fetchFile = (url: string, limit: number, headers: Readonly<Record<string, string>> = {}) =>
  requesting(url, async (idleTimeout) => {
    const response = await fetch(url, {
      headers: { "accept-encoding": "identity", ...headers },
      redirect: "manual",
      signal: idleTimeout.signal,
    });
    if (isTemporary(response.status)) throw unreachable(url, `answered ${response.status}`);
    const answered = { status: response.status, headers: Object.fromEntries(response.headers) };
    try {
      return {
        ...answered,
        bytes: await readLimited(response, limit, () => tooLong(url, limit), idleTimeout),
      };
    } catch (error) {
      const damage = damageOf(error);
      if (damage === undefined) throw error;
      return { ...answered, bytes: new Uint8Array(), damage };
    }
  });

/** Error codes of zlib and brotli for a body that does not match its Content-Encoding. */
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
