import { createRequire } from "node:module";
import { gzip } from "pako";
import { failure } from "../../../shared/errors.ts";

/** Signed indexes name these bytes, so they must not change with Node's version: docs/decisions/0040. */
export const gzipped = (bytes: Uint8Array): Uint8Array => gzip(bytes, { level: 9 });

export const xzipped = (bytes: Uint8Array): Uint8Array => encoder().xz.compressSync(bytes);

/** Loaded only if a feed is written: its native part may be missing, and most projects need none. */
function encoder(): typeof import("@napi-rs/lzma") {
  try {
    return createRequire(import.meta.url)("@napi-rs/lzma");
  } catch (cause) {
    throw failure(
      "decoder-missing",
      "xz files cannot be written: the part of @napi-rs/lzma for this machine is not installed",
      'Run npx -c "npm install" in the project. npm leaves that part out if its own Node is too old for it.',
      undefined,
      cause,
    );
  }
}
