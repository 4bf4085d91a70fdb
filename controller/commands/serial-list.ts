import { failure } from "../../shared/errors.ts";

/** A serial number with its location. */
export interface Listed {
  serial: string;
  line: number;
}

/** Usual names of the column, without spaces and in lower case. */
const usualNames = ["serial", "serialnumber", "serialno", "sn", "deviceserial", "deviceserialnumber"];

const comparable = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/**
 * Reads one serial number per line, or a column of CSV (RFC 4180; with commas, semicolons or tabs).
 * @param column name of the column; default: a usual name
 */
export function readSerials(text: string, file: string, column?: string): Listed[] {
  const rows = rowsOf(text.replace(/^\uFEFF/, ""));
  const [header] = rows;
  if (!header)
    throw failure(
      "serials-file",
      `${file} is empty`,
      "It must have one serial number per line, or be CSV with a column of serial numbers.",
    );
  const isList = rows.every(({ cells }) => cells.length === 1);
  const index = columnOf(header.cells, column, isList, file);
  const hasHeader = index !== undefined;
  return rows
    .slice(hasHeader ? 1 : 0)
    .map(({ cells, line }) => ({ serial: (cells[index ?? 0] ?? "").trim(), line }))
    .filter(({ serial }) => serial !== "" && !(isList && serial.startsWith("#")));
}

/** @returns undefined for a plain list without a header */
function columnOf(
  header: readonly string[],
  column: string | undefined,
  isList: boolean,
  file: string,
): number | undefined {
  const names = header.map(comparable);
  const wanted = column === undefined ? usualNames : [comparable(column)];
  const found = names.flatMap((name, index) => (wanted.includes(name) ? [index] : []));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (isList && column === undefined) return undefined;
  const has = `its columns are ${header.map((name) => JSON.stringify(name.trim())).join(", ")}`;
  if (found.length > 1)
    throw failure(
      "serials-file",
      `${file} has ${found.length} columns of serial numbers: ${has}`,
      "Name one with --column.",
    );
  const what = column === undefined ? "no column of serial numbers" : `no column ${JSON.stringify(column)}`;
  throw failure(
    "serials-file",
    `${file} has ${what}: ${has}`,
    "Name the column with --column; the first line has the names.",
  );
}

interface Row {
  cells: string[];
  line: number;
}

function rowsOf(text: string): Row[] {
  const separator = separatorOf(text);
  const rows: Row[] = [];
  let row: Row = { cells: [], line: 1 };
  let line = 1;
  // A quoted field, in which a doubled quote means one quote, or a plain field.
  const field = new RegExp(`"((?:[^"]|"")*)"[^\\n${separator}]*|([^\\n${separator}]*)`, "y");
  for (let at = 0; at <= text.length; ) {
    field.lastIndex = at;
    const [whole = "", quoted, plain = ""] = field.exec(text) ?? [];
    row.cells.push(quoted === undefined ? plain.replace(/\r$/, "") : quoted.replaceAll('""', '"'));
    line += whole.split("\n").length - 1;
    at += whole.length;
    const isEnd = text[at] !== separator;
    at++;
    if (!isEnd) continue;
    if (row.cells.some((cell) => cell.trim() !== "")) rows.push(row);
    row = { cells: [], line: ++line };
  }
  return rows;
}

function separatorOf(text: string): string {
  const [first = ""] = text.split("\n", 1);
  const amounts = [",", ";", "\t"].map((separator) => ({ separator, amount: first.split(separator).length }));
  return amounts.sort((a, b) => b.amount - a.amount)[0]?.separator ?? ",";
}
