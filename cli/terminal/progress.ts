import { harmless } from "./cells.ts";
import type { Host } from "./host.ts";
import { fileSize } from "./words.ts";

/** Finished and all items: bytes, files, releases. */
interface Progress {
  done: number;
  total: number;
}

type Messages = Pick<Host, "messages" | "quiet">;

const plainIntervalMilliseconds = 1_000;
const frame = 100;
const between = 10_000;
const clock = () => performance.now();

/**
 * Shows progress: an updated line at a terminal, a line every ten seconds elsewhere, nothing if the work
 * takes less than a second.
 * @param now monotonic clock in milliseconds
 * @param describe gets `columns` and `elapsed` only at a terminal
 */
function showProgress<T>(
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
    end(): void {
      if (drawn) output.write("\r\x1b[K");
    },
  };
}

/** A terminal also gets the rate and the time left. @param verb such as "Building" @param noun such as "releases" */
export const showCount = (host: Messages, verb: string, noun: string, now = clock) =>
  showProgress<Progress>(host, now, (progress, terminal) => {
    const text = `${verb}: ${progress.done} of ${progress.total} ${noun}`;
    if (!terminal) return text;
    const { columns, elapsed } = terminal;
    return `${text}${rate(progress, elapsed)}${timeLeft(progress, elapsed)}`.slice(0, columns - 1);
  });

/** Like `showCount`, at a terminal only, because a log needs only the result of a command without a network. */
export const showCountAtTerminal: typeof showCount = ({ messages, quiet }, ...rest) =>
  showCount({ messages, quiet: quiet || messages.columns === undefined }, ...rest);

function rate({ done }: Progress, elapsed: number): string {
  if (done === 0) return "";
  const perSecond = (done / Math.max(elapsed, 1)) * 1000;
  return `, ${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s`;
}

function timeLeft({ done, total }: Progress, elapsed: number): string {
  if (done === 0) return "";
  const seconds = Math.ceil(((total - done) * elapsed) / done / 1000);
  return seconds < 100 ? `, ${seconds} s left` : `, ${Math.ceil(seconds / 60)} min left`;
}

/** In bytes. */
interface ReadingProgress extends Progress {
  file: string;
}

/** Progress of reading files, with a bar at a terminal. @param verb such as "Reading" */
export const showReading = (host: Messages, verb = "Reading", now = clock) =>
  showProgress<ReadingProgress>(host, now, (progress, terminal) =>
    terminal ? bar(progress, terminal.elapsed, terminal.columns) : line(verb, progress),
  );

const percent = ({ done, total }: ReadingProgress) =>
  `${total === 0 ? 100 : Math.floor((done / total) * 100)} %`;

const line = (verb: string, progress: ReadingProgress) =>
  `${verb} ${harmless(progress.file)}: ${fileSize(progress.done)} of ${fileSize(progress.total)} (${percent(progress)})`;

/** Columns reserved for the file name while the gauge is wider than its minimum. */
const nameRoom = 21;

function bar(progress: ReadingProgress, elapsed: number, columns: number): string {
  const speed = `${fileSize((progress.done / Math.max(elapsed, 1)) * 1000)}/s`;
  const short = ` ${percent(progress)} of ${fileSize(progress.total)}, ${speed}`;
  const numbers = columns < short.length + nameRoom ? short : `${short}${timeLeft(progress, elapsed)}`;
  const free = columns - numbers.length - 3;
  const width = Math.min(30, free - nameRoom >= 10 ? free - nameRoom : free);
  if (width < 5) return numbers.trim().slice(0, columns - 1);
  const filled = progress.total === 0 ? width : Math.round((progress.done / progress.total) * width);
  const gauge = `[${"#".repeat(filled)}${".".repeat(width - filled)}]`;
  const room = columns - 1 - gauge.length - numbers.length - 1;
  const file = room >= 12 ? ` ${harmless(progress.file).slice(0, room)}` : "";
  return `${gauge}${numbers}${file}`;
}
