import type { Host } from "./host.ts";

/** Finished and all items: bytes, files, releases. */
export interface Progress {
  done: number;
  total: number;
}

export type Messages = Pick<Host, "messages" | "quiet">;

const plainIntervalMilliseconds = 1_000;
const frame = 100;
const between = 10_000;

/**
 * Shows progress: an updated line at a terminal, a line every ten seconds elsewhere, nothing if the work
 * takes less than a second.
 * @param now monotonic clock in milliseconds
 * @param describe gets `columns` and `elapsed` only at a terminal
 */
export function showProgress<T>(
  { messages: output, quiet }: Messages,
  now: () => number,
  describe: (progress: T, terminal?: { columns: number; elapsed: number }) => string,
) {
  const { columns } = output;
  const start = now();
  let next = start + (columns === undefined ? between : plainIntervalMilliseconds);
  let drawn = false;
  return {
    onProgress(progress: T): void {
      const time = now();
      if (quiet || time < next) return;
      next = time + (columns === undefined ? between : frame);
      drawn = columns !== undefined;
      output.write(
        columns === undefined
          ? `${describe(progress)}\n`
          : `\r${describe(progress, { columns, elapsed: time - start })}\x1b[K`,
      );
    },
    /** Erases the progress line. */
    end(): void {
      if (drawn) output.write("\r\x1b[K");
    },
  };
}

/**
 * Progress of items that are counted: a terminal also gets their rate and the time left.
 * @param verb such as "Building" @param noun such as "releases"
 */
export const showCount = (host: Messages, now: () => number, verb: string, noun: string) =>
  showProgress<Progress>(host, now, (progress, terminal) => {
    const text = `${verb}: ${progress.done} of ${progress.total} ${noun}`;
    if (!terminal) return text;
    const { columns, elapsed } = terminal;
    return `${text}${rate(progress, elapsed)}${timeLeft(progress, elapsed)}`.slice(0, columns - 1);
  });

/** Like `showCount`, at a terminal only, because a log needs only the result of a command without a network. */
export const showCountAtTerminal: typeof showCount = ({ messages, quiet }, now, verb, noun) =>
  showCount({ messages, quiet: quiet || messages.columns === undefined }, now, verb, noun);

function rate({ done }: Progress, elapsed: number): string {
  if (done === 0) return "";
  const perSecond = (done / Math.max(elapsed, 1)) * 1000;
  return `, ${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s`;
}

export function timeLeft({ done, total }: Progress, elapsed: number): string {
  if (done === 0) return "";
  const seconds = Math.ceil(((total - done) * elapsed) / done / 1000);
  return seconds < 100 ? `, ${seconds} s left` : `, ${Math.ceil(seconds / 60)} min left`;
}
