import { afterFile } from "../support/after-file.ts";

export interface ReceivedEvent {
  id: number;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of all kinds
  data: any;
}

export interface Stream {
  status: number;
  /** Everything received, unchanged. */
  text(): string;
  /** Resolves with that many further events; rejects if the stream ends before. */
  next(count: number): Promise<ReceivedEvent[]>;
  /** Resolves when the server ends the stream. */
  ended(): Promise<void>;
  close(): void;
}

/** Follows a controller's events. */
export async function follow(
  api: string,
  headers: Record<string, string>,
  { after, last }: { after?: number; last?: number } = {},
): Promise<Stream> {
  const stop = new AbortController();
  const response = await fetch(`${api}/events${after === undefined ? "" : `?after=${after}`}`, {
    headers: { ...headers, ...(last !== undefined && { "last-event-id": String(last) }) },
    signal: stop.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let [whole, rest] = ["", ""];
  const waiting: ReceivedEvent[] = [];
  const read = async (): Promise<boolean> => {
    const part = await reader?.read();
    if (!part || part.done) return false;
    whole += part.value;
    const pieces = (rest + part.value).split("\n\n");
    rest = pieces.pop() ?? "";
    waiting.push(...pieces.filter((piece) => piece.startsWith("id:")).map(eventOf));
    return true;
  };
  const stream: Stream = {
    status: response.status,
    text: () => whole,
    async next(count) {
      while (waiting.length < count) if (!(await read())) throw new Error(`the stream ended: ${whole}`);
      return waiting.splice(0, count);
    },
    async ended() {
      while (await read());
    },
    close: () => stop.abort(),
  };
  afterFile(() => stream.close());
  return stream;
}

function eventOf(piece: string): ReceivedEvent {
  const lines = piece.split("\n").map((line) => line.split(/: (.*)/s));
  const { id, event, data } = Object.fromEntries(lines);
  return { id: Number(id), event, data: JSON.parse(data) };
}
