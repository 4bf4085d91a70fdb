import { createHash } from "node:crypto";
import { closeSync, createReadStream, openSync, statSync, writeSync } from "node:fs";
import { accessing, refuseSpecial } from "../access-failure.ts";
import { hashFile } from "../file-source.ts";
import {
  follow,
  type IdleTimeout,
  isTemporary,
  networkProblem,
  requesting,
  startIdleTimeout,
  unreachable,
} from "./download-request.ts";

export interface ArtifactStream {
  /** 200: whole file; 206: from the requested offset; 416: nothing after that offset. */
  status: number;
  /** Length of the following bytes; undefined if the server does not send it. */
  length?: number | undefined;
  /** A strong ETag; undefined if there is none. */
  etag?: string | undefined;
  chunks: AsyncIterable<Uint8Array>;
  /** Must also be called if the stream was not read to its end. */
  end(): void;
}

const encodings = { "accept-encoding": "identity", accept: "*/*" };

const ask: typeof follow = async (place, ...request) => {
  const response = await follow(place, ...request);
  if (isTemporary(response.status)) throw unreachable(place, `answered ${response.status}`);
  return response;
};

/** Length of an artifact according to its server. @throws RelcatError network */
export async function artifactLength(place: string): Promise<{ status: number; length: number | undefined }> {
  if (!isAddress(place)) {
    const stats = statSync(place, { throwIfNoEntry: false });
    return { status: stats ? 200 : 404, length: stats?.size };
  }
  return requesting(place, async (idleTimeout) => {
    const response = await ask(place, { method: "HEAD", headers: encodings }, idleTimeout);
    return { status: response.status, length: lengthOf(response) };
  });
}

/** Accepts compression, as most clients do. @returns `encoding`: Content-Encoding, if any @throws RelcatError network */
export const encodedAnswer = (url: string) =>
  requesting(url, async (idleTimeout) => {
    const headers = { "accept-encoding": "gzip, br", accept: "*/*" };
    const response = await ask(url, { headers }, idleTimeout);
    const encoding = response.headers.get("content-encoding")?.trim().toLowerCase();
    return { status: response.status, encoding: encoding === "identity" ? undefined : encoding };
  });

export const isAddress = (place: string): boolean => /^https?:\/\//.test(place);

function lengthOf({ headers }: Response): number | undefined {
  const length = headers.get("content-length");
  return length !== null && /^\d+$/.test(length) && !headers.has("content-encoding")
    ? Number(length)
    : undefined;
}

/**
 * Opens an artifact for reading. Reading errors are also RelcatError network.
 * @param from offset of the first byte
 * @param etag of existing bytes; if it changed, the whole file is sent
 */
export async function openArtifact(place: string, from = 0, etag?: string): Promise<ArtifactStream> {
  if (!isAddress(place)) return openFile(place, from);
  const idleTimeout = startIdleTimeout();
  const range = from > 0 ? { range: `bytes=${from}-`, ...(etag !== undefined && { "if-range": etag }) } : {};
  try {
    const response = await ask(place, { headers: { ...encodings, ...range } }, idleTimeout);
    const strong = response.headers.get("etag");
    return {
      status: isFrom(response, from) ? response.status : 416,
      length: lengthOf(response),
      etag: strong?.startsWith('"') ? strong : undefined,
      chunks: bodyOf(place, response, idleTimeout),
      end: () => idleTimeout.end(),
    };
  } catch (error) {
    const problem = networkProblem(place, error, idleTimeout);
    idleTimeout.end();
    throw problem;
  }
}

/** An answer that starts at another offset is useless. */
const isFrom = ({ status, headers }: Response, from: number): boolean =>
  status !== 206 || (headers.get("content-range") ?? "").startsWith(`bytes ${from}-`);

async function* bodyOf(place: string, response: Response, idleTimeout: IdleTimeout) {
  try {
    for await (const chunk of response.body ?? []) {
      idleTimeout.reset();
      yield chunk;
    }
  } catch (error) {
    throw networkProblem(place, error, idleTimeout);
  }
}

function openFile(path: string, from: number): ArtifactStream {
  accessing(`cannot read ${path}`, () => refuseSpecial(path));
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return { status: 404, chunks: emptyStream(), end: () => {} };
  const stream = createReadStream(path, { start: from, highWaterMark: 512 * 1024 });
  return {
    status: from > 0 ? 206 : 200,
    length: Math.max(0, stats.size - from),
    chunks: stream,
    end: () => stream.destroy(),
  };
}

async function* emptyStream() {}

/**
 * Hashes an artifact with the memory of a few chunks.
 * @param copy new file to store the bytes in
 * @returns `isEndless`: it exceeded the limit, and the rest was not read
 * @throws RelcatError network
 */
export async function measureArtifact(
  place: string,
  limit: number,
  onBytes: (done: number) => void,
  copy?: string,
) {
  if (copy === undefined && !isAddress(place)) {
    const { status, length = 0 } = await artifactLength(place);
    if (status === 200 && length <= limit)
      return { status, isEndless: false, ...(await hashFile(place, onBytes)) };
  }
  const stream = await openArtifact(place);
  const hash = createHash("sha256");
  let size = 0;
  let descriptor: number | undefined;
  try {
    if (stream.status !== 200) return { status: stream.status, size, sha256: "", isEndless: false };
    if (copy !== undefined) descriptor = openSync(copy, "wx");
    for await (const chunk of stream.chunks) {
      size += chunk.length;
      if (size > limit) return { status: 200, size, sha256: "", isEndless: true };
      hash.update(chunk);
      if (descriptor !== undefined) writeWhole(descriptor, chunk);
      onBytes(size);
    }
    return { status: 200, size, sha256: hash.digest("hex"), isEndless: false };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
    stream.end();
  }
}

function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}
