import { failure } from "../../shared/errors.ts";
import { type ByteSource, release } from "../bytes/byte-source.ts";
import { Fault } from "../verdict.ts";
import { beyond, short, stopped, type Take } from "./unpacking.ts";
import { walkXz } from "./xz-walk.ts";

/** Only one input piece and one output chunk are in flight, so larger pieces only cost memory. */
const pieceSize = 16 * 1024;

/**
 * Decompresses all streams. Block offsets, sizes and dictionaries are checked first, because the decoder has
 * no memory limit and may stop early without an error.
 * @throws Fault bad-digest, refuse, unsupported-format; RelcatError, if the decoder's native module is not
 * installed
 */
export async function unpackXz(source: ByteSource, take: Take, limit: number): Promise<void> {
  const declared = walkXz(source);
  if (declared > limit) throw beyond(source.name, limit);
  const { xz } = await decoder();
  const isShort = source.size <= short.packed && declared <= short.unpacked;
  const size = await (isShort ? unpackShort : unpackStream)(xz, source, take);
  if (size !== declared) throw damaged(source, `${size} bytes came out, expected ${declared}`);
}

type Decoder = typeof import("@napi-rs/lzma")["xz"];

async function unpackShort(xz: Decoder, source: ByteSource, take: Take): Promise<number> {
  const unpacked = unpackedAtOnce(xz, source);
  if (unpacked.length > 0) await take(unpacked);
  return unpacked.length;
}

function unpackedAtOnce(xz: Decoder, source: ByteSource): Uint8Array {
  const packed = source.read(0, source.size);
  try {
    return xz.decompressSync(packed);
  } catch (error) {
    throw damaged(source, (error as Error).message);
  }
}

/** @returns size of the output in bytes */
async function unpackStream(xz: Decoder, source: ByteSource, take: Take): Promise<number> {
  const input = handOver();
  const output = xz.decompressStream(input.stream).getReader();
  const feeding = feed(source, input).then(
    () => undefined,
    (reason: unknown) => {
      // The decoder may be in the middle of a piece and never answer, so its promise is not awaited.
      input.fail(reason);
      output.cancel(reason).catch(() => {});
      return reason;
    },
  );
  const [drained] = await Promise.allSettled([drain(output, source, take)]);
  input.stop();
  output.cancel().catch(() => {});
  const reason = await feeding;
  if (reason !== undefined && reason !== stopped) throw reason;
  if (drained.status === "rejected") throw drained.reason;
  return drained.value;
}

/** Input queue of the decoder: it pulls one piece at a time, and a waiting writer can be cancelled. */
function handOver() {
  let control: ReadableStreamDefaultController<Uint8Array>;
  let isStopped = false;
  let asked = Promise.withResolvers<void>();
  asked.promise.catch(() => {});
  const stop = () => {
    isStopped = true;
    asked.reject(stopped);
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        control = controller;
      },
      pull: () => asked.resolve(),
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
  return {
    stream,
    async give(piece: Uint8Array): Promise<void> {
      await asked.promise;
      if (isStopped) throw stopped;
      asked = Promise.withResolvers();
      asked.promise.catch(() => {});
      control.enqueue(piece);
    },
    end(): void {
      if (isStopped) throw stopped;
      control.close();
    },
    fail: (reason: unknown) => control.error(reason),
    stop,
  };
}

type Input = ReturnType<typeof handOver>;
type Output = ReadableStreamDefaultReader<Uint8Array>;

const damaged = ({ name }: ByteSource, how: string) => new Fault("bad-digest", `${name} is damaged: ${how}`);

async function decoder() {
  try {
    return await import("@napi-rs/lzma");
  } catch (cause) {
    throw failure(
      "decoder-missing",
      "xz files cannot be read: the part of @napi-rs/lzma for this machine is not installed",
      'Run npx -c "npm install" in the project. npm leaves that part out if its own Node is too old for it.',
      undefined,
      cause,
    );
  }
}

async function feed(source: ByteSource, input: Input): Promise<void> {
  // Two alternating buffers: when the decoder requests another piece, it has copied the one before the last.
  const pieces = [new Uint8Array(pieceSize), new Uint8Array(pieceSize)] as const;
  let turn: 0 | 1 = 0;
  await source.each(async (chunk) => {
    for (let from = 0; from < chunk.length; from += pieceSize) {
      const piece = chunk.subarray(from, from + pieceSize);
      pieces[turn].set(piece);
      await input.give(pieces[turn].subarray(0, piece.length));
      turn = turn === 0 ? 1 : 0;
    }
  });
  input.end();
}

async function drain(output: Output, source: ByteSource, take: Take): Promise<number> {
  for (let size = 0; ; ) {
    const { value } = await output.read().catch((error: Error) => {
      throw damaged(source, error.message);
    });
    if (!value) return size;
    size += value.length;
    await take(value);
    release(value);
  }
}
