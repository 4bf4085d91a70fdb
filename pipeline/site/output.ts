import type { OutputFile } from "../documents/published.ts";

const encoder = new TextEncoder();

export function textFile(path: string, text: string): OutputFile {
  return { path, chunks: [encoder.encode(text)] };
}

export const jsonFile = (path: string, value: unknown): OutputFile =>
  textFile(path, `${JSON.stringify(value)}\n`);

const batch = 1 << 20;

/** A file joined from many texts in batches, so that it is never one string in memory. */
export function joinedFile(path: string, texts: () => Iterable<string>): OutputFile {
  return { path, chunks: { [Symbol.iterator]: () => inBatches(texts()) } };
}

function* inBatches(texts: Iterable<string>): Generator<Uint8Array> {
  let pending = "";
  for (const text of texts) {
    pending += text;
    if (pending.length < batch) continue;
    yield encoder.encode(pending);
    pending = "";
  }
  if (pending !== "") yield encoder.encode(pending);
}
