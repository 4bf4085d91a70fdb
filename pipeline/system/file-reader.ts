import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { failure } from "../../shared/errors.ts";
import type { MeasuredFile } from "../documents/object-store.ts";
import { accessFailure, refuseSpecial } from "./access-failure.ts";

/** Reads a file sequentially and verifies at the end that it matches its measured hash. */
export interface FileReader {
  /** Fills as much of the buffer as possible. @returns the filled part */
  next(buffer: Buffer): Promise<Buffer>;
  /** @throws RelcatError file-changed unless the bytes match */
  finish(): void;
}

/** @throws RelcatError file-access, file-changed, and whatever `work` throws */
export async function withFile<T>(
  path: string,
  { sha256, size }: MeasuredFile,
  work: (reader: FileReader) => Promise<T>,
): Promise<T> {
  const hash = createHash("sha256");
  let at = 0;
  // Errors of `work` are its own: it may write the bytes to a disk that is full.
  const reading = async <R>(act: () => Promise<R>): Promise<R> =>
    act().catch((error) => {
      throw accessFailure(`cannot read ${path}`, error);
    });
  const file = await reading(async () => {
    refuseSpecial(path);
    return open(path);
  });
  try {
    return await work({
      async next(buffer) {
        let filled = 0;
        while (filled < buffer.length) {
          const { bytesRead } = await reading(() => file.read(buffer, filled, buffer.length - filled, at));
          if (bytesRead === 0) break;
          filled += bytesRead;
          at += bytesRead;
        }
        const part = buffer.subarray(0, filled);
        hash.update(part);
        return part;
      },
      finish() {
        if (at !== size || hash.digest("hex") !== sha256) throw changed(path, sha256);
      },
    });
  } finally {
    await file.close();
  }
}

const changed = (path: string, sha256: string) =>
  failure(
    "file-changed",
    `${path} was changed while it was uploaded: it no longer has SHA-256 ${sha256}`,
    "Wait until the build has finished, then run the command again.",
    { file: path, line: 1, column: 1 },
  );
