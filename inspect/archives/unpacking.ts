import { refused } from "../verdict.ts";

/** Chunks are valid only during the call. */
export type Take = (chunk: Uint8Array) => void | Promise<void>;

/** Largest dictionary or window that may be allocated; `xz -9` uses this size. */
export const maxDictionaryBytes = 64 * 1024 * 1024;

/** Short files are unpacked in one call: a stream costs many times more memory and thread switches. */
export const inMemoryLimits = { packed: 1 << 18, unpacked: 1 << 20 } as const;

/** Thrown when the consumer stops reading, to distinguish that from an error of the source. */
export const stopped = new Error("reading was stopped");

export const beyond = (name: string, limit: number) =>
  refused(`${name} unpacks to more than ${limit} bytes, the limit`);

export const needsMemory = (name: string) =>
  refused(
    `${name} needs a dictionary of more than ${maxDictionaryBytes} bytes to unpack; pack it with a smaller one`,
  );
