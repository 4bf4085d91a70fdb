import { harmless } from "../terminal/cells.ts";
import type { Host } from "../terminal/host.ts";
import { fileSize } from "../terminal/words.ts";

/** How far a command is with reading files. */
export interface ReadingProgress {
  file: string;
  done: number;
  total: number;
}

type Messages = Pick<Host, "messages" | "quiet">;

const patience = 1_000;
const frame = 100;
const between = 10_000;

/**
 * Shows how far something is: a line that is written over on a terminal, a line every ten seconds elsewhere, nothing
 * for work that is done within a second.
 * @param now milliseconds of a clock that never goes back
 * @param describe `columns` and what has `elapsed` are given for a terminal alone
 */
export function showProgress<T>(
  { messages: output, quiet }: Messages,
  now: () => number,
  describe: (progress: T, terminal?: { columns: number; elapsed: number }) => string,
) {
  const { columns } = output;
  const start = now();
  let next = start + (columns === undefined ? between : patience);
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
    /** Takes the line away again. */
    end(): void {
      if (drawn) output.write("\r\x1b[K");
    },
  };
}

/** Shows how far files are read, with a bar on a terminal. @param verb what is done with them */
export const showReading = (host: Messages, now: () => number, verb = "Reading") =>
  showProgress<ReadingProgress>(host, now, (progress, terminal) =>
    terminal ? bar(progress, terminal.elapsed, terminal.columns) : line(verb, progress),
  );

const percent = ({ done, total }: ReadingProgress) =>
  `${total === 0 ? 100 : Math.floor((done / total) * 100)} %`;

const line = (verb: string, progress: ReadingProgress) =>
  `${verb} ${harmless(progress.file)}: ${fileSize(progress.done)} of ${fileSize(progress.total)} (${percent(progress)})`;

function bar(progress: ReadingProgress, elapsed: number, columns: number): string {
  const speed = `${fileSize((progress.done / Math.max(elapsed, 1)) * 1000)}/s`;
  const numbers = ` ${percent(progress)} of ${fileSize(progress.total)}, ${speed}`;
  const width = Math.min(30, columns - numbers.length - 3);
  if (width < 5) return numbers.trim().slice(0, columns - 1);
  const filled = progress.total === 0 ? width : Math.round((progress.done / progress.total) * width);
  const gauge = `[${"#".repeat(filled)}${".".repeat(width - filled)}]`;
  const room = columns - 1 - gauge.length - numbers.length - 1;
  const file = room >= 12 ? ` ${harmless(progress.file).slice(0, room)}` : "";
  return `${gauge}${numbers}${file}`;
}
