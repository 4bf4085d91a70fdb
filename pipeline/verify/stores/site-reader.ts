import { join } from "node:path";
import { failure, RelcatError } from "../../../shared/errors.ts";
import { relativePath } from "../../documents/relative-path.ts";
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
