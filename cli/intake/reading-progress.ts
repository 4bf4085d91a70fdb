import { harmless } from "../terminal/cells.ts";
import type { Host } from "../terminal/host.ts";
import { fileSize } from "../terminal/words.ts";

export interface ReadingProgress {
  file: string;
  done: number;
  total: number;
}

type Messages = Pick<Host, "messages" | "quiet">;

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

/** Progress of reading files, with a bar at a terminal. @param verb such as "Reading" */
export const showReading = (host: Messages, now: () => number, verb = "Reading") =>
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

function timeLeft({ done, total }: ReadingProgress, elapsed: number): string {
  if (done === 0) return "";
  const seconds = Math.ceil(((total - done) * elapsed) / done / 1000);
  return seconds < 100 ? `, ${seconds} s left` : `, ${Math.ceil(seconds / 60)} min left`;
}
