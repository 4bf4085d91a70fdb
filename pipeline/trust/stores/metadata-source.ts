import { readdirSync } from "node:fs";
import { join } from "node:path";
import { failure } from "../../../shared/errors.ts";
import { relativePath } from "../../documents/relative-path.ts";
import { exists, readIfPresent } from "../../system/files.ts";
import { readLimited } from "../../system/network/download-request.ts";
import { rootFolder } from "../../system/root-folder.ts";
import type { MetadataSource } from "../live-metadata.ts";

const timeoutMilliseconds = 30_000;
/** Larger than the metadata of any catalog. */
const maxMetadataBytes = 8 * 1024 * 1024;

/** Published metadata at a site's address or in its folder. */
export function metadataAt(place: string): MetadataSource {
  return /^https?:\/\//.test(place) ? metadataAtUrl(place.replace(/\/$/, "")) : metadataIn(place);
}

export function metadataIn(folder: string): MetadataSource {
  return {
    read: async (path) => readIfPresent(rootFolder(folder)(relativePath(path))),
    names: async () => {
      const metadata = join(folder, "metadata");
      return exists(metadata) ? readdirSync(metadata).map((name) => `metadata/${name}`) : [];
    },
  };
}

/** A file host cannot list files, so only live metadata is found. */
function metadataAtUrl(url: string): MetadataSource {
  let offset: number | undefined;
  const onAnswer = ({ headers }: Response) => {
    // A cache answers with the date at which it was filled.
    const date = Date.parse(headers.get("date") ?? "") + Number(headers.get("age") ?? 0) * 1000;
    offset = Number.isNaN(date) ? undefined : date - Date.now();
  };
  return {
    names: async () => [],
    read: (path) => download(`${url}/${relativePath(path)}`, onAnswer),
    clockOffset: () => offset,
  };
}

/** @returns undefined if it does not exist @throws RelcatError network, because the live state is then unknown */
async function download(url: string, onAnswer: (response: Response) => void) {
  const unreachable = (what: string, cause?: unknown) =>
    failure(
      "network",
      `${url} ${what}`,
      "The live versions must be known, because versions only grow. Try again.",
      undefined,
      cause,
    );
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMilliseconds) });
    onAnswer(response);
    if (response.status === 404 || response.status === 403) return undefined;
    if (!response.ok) throw unreachable(`answered ${response.status}`);
    const tooLong = () => unreachable(`has more than ${maxMetadataBytes} bytes`);
    return await readLimited(response, maxMetadataBytes, tooLong);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof DOMException)) throw error;
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    throw unreachable(`cannot be read: ${reason}`, error);
  }
}
