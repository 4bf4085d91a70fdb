import { harmless } from "./cells.ts";
import { type Messages, type Progress, showProgress, timeLeft } from "./progress.ts";
import { fileSize } from "./words.ts";

/** In bytes. */
interface ReadingProgress extends Progress {
  file: string;
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
