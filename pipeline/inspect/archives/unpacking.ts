import { Fault } from "../inspection.ts";

/** Takes chunks that are good during the call. */
export type Take = (chunk: Uint8Array) => void | Promise<void>;

/** Of what unpacking may ask memory for, as a dictionary or window; the largest that `xz -9` makes. */
export const mostDictionary = 64 * 1024 * 1024;

/**
 * Short files that become little are unpacked in one call: what streams cost, in memory and trips to other threads, is many
 * times what that takes.
 */
export const short = { packed: 1 << 18, unpacked: 1 << 20 } as const;

/** Thrown where nobody takes bytes any more, to tell that from a source that fails. */
export const stopped = new Error("nobody reads on");

export const beyond = (name: string, limit: number) =>
  new Fault("refuse", `${name} unpacks to more than ${limit} bytes, the limit`);

export const needsMemory = (name: string) =>
  new Fault(
    "refuse",
    `${name} needs a dictionary of more than ${mostDictionary} bytes to unpack; pack it with a smaller one`,
  );
