import { createHash } from "node:crypto";
import type { FileSource } from "./file-source.ts";

/** A file, and a digest of some bytes followed by the file. */
export interface HashedAlong {
  file: FileSource;
  /** Passes over the file only if no pass has reached its end. */
  digest(): Promise<string>;
}

/** The pass that computes the SHA-256 of the file also computes that of `before` and the file. */
export function hashedAlong(file: FileSource, before: Uint8Array): HashedAlong {
  let digest: string | undefined;
  const each: FileSource["each"] = async (take) => {
    if (digest !== undefined) return file.each(take);
    const hash = createHash("sha256").update(before);
    await file.each((chunk, at) => {
      hash.update(chunk);
      return take(chunk, at);
    });
    digest = hash.digest("hex");
  };
  const pass = async () => {
    if (digest === undefined) await each(() => {});
    return digest ?? "";
  };
  return {
    file: {
      ...file,
      each,
      async sha256() {
        await pass();
        return file.sha256();
      },
    },
    digest: pass,
  };
}
