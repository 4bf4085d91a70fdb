import { readFileSync } from "node:fs";
import { answer, type Host, say } from "../../cli/terminal/host.ts";
import { count, listed } from "../../cli/terminal/words.ts";
import { exitStatus, failure } from "../../shared/errors.ts";
import { serialKey } from "../server/devices/serials.ts";
import type { Connection } from "./api.ts";
import { decide, doneLines, move, type StateOptions } from "./devices-move.ts";
import { type Device, readDevices, type State } from "./devices-select.ts";

interface Decisions {
  auth_decisions: { serial: string; enforce_state: string }[];
}

interface Matched {
  devices: Device[];
  unknown: Listed[];
  ambiguous: Listed[];
  /** Vendor placeholders such as "To be filled by O.E.M.", shared by many machines. */
  placeholders: Listed[];
}

/** `relcat devices accept --serials FILE`: applies what is possible and reports the rest. */
export async function setBySerials(
  state: Exclude<State, "pending">,
  file: string,
  connection: Connection,
  options: StateOptions,
  host: Host,
): Promise<number> {
  const text = readFileSync(file === "-" ? 0 : file, "utf8");
  const serials = readSerials(text, file === "-" ? "standard input" : file, options.column);
  const matched = match(serials, await readDevices(connection));
  const { ambiguous, placeholders } = matched;
  const isKept = state === "accepted" && !options.includeRejected;
  const rejected = isKept ? matched.devices.filter((device) => device.state === "rejected") : [];
  const devices = matched.devices.filter((device) => !rejected.includes(device));
  const { kept, free: preapproved } = await apart(
    options.preapprove ? matched.unknown : [],
    isKept,
    connection,
  );
  const moved = await move(state, devices, connection, options, host);
  // An approval in advance applies to the first device with the serial number; the next one is pending.
  const approvals = serialsOf(preapproved).map((serial) => ({ serial, enforce_state: "accepted" }));
  if (!options.dryRun) await decide(approvals, connection, options.includeRejected);
  const left = { unknown: options.preapprove ? [] : matched.unknown, ambiguous, placeholders };
  const { dry_run, ...done } = moved;
  const stay = [...rejected.map(nameOf), ...serialsOf(kept)];
  const document = {
    state,
    ...done,
    preapproved: serialsOf(preapproved),
    rejected: stay,
    unknown: serialsOf(left.unknown),
    ambiguous: serialsOf(ambiguous),
    placeholders: serialsOf(placeholders),
    dry_run,
  };
  const lines = [...linesOf(left), ...rejectedLine(stay)];
  answer<"devices-serials">(host, document, () =>
    [
      ...doneLines(state, moved),
      ...(preapproved.length > 0 ? [preapprovedText(preapproved.length, dry_run)] : []),
      ...lines,
    ].join("\n"),
  );
  if (left.unknown.length > 0 && state === "accepted")
    say(host, "--preapprove approves the unknown ones in advance.");
  return lines.length === 0 ? exitStatus.done : exitStatus.problems;
}

/** Separates unknown serial numbers that were rejected explicitly. */
async function apart(
  unknown: readonly Listed[],
  isKept: boolean,
  connection: Connection,
): Promise<{ kept: Listed[]; free: Listed[] }> {
  if (!isKept || unknown.length === 0) return { kept: [], free: [...unknown] };
  const { auth_decisions } = await connection.ask<Decisions>("GET", "/device/auth_decisions");
  const rejected = new Set(
    auth_decisions.filter((each) => each.enforce_state === "rejected").map(({ serial }) => serialKey(serial)),
  );
  const isRejected = ({ serial }: Listed) => rejected.has(serialKey(serial));
  return { kept: unknown.filter(isRejected), free: unknown.filter((each) => !isRejected(each)) };
}

const nameOf = ({ name, serial, id }: Device): string => name ?? serial ?? id;

const rejectedLine = (stay: readonly string[]): string[] =>
  stay.length === 0
    ? []
    : [
        `${stay.length} rejected, left out: ${listed(stay, maxRejectedNamed)}; --include-rejected includes them`,
      ];

const maxRejectedNamed = 3;

function preapprovedText(amount: number, isTrial: boolean): string {
  const are = isTrial ? "would be" : amount === 1 ? "is" : "are";
  return `${count(amount, "unknown serial number")} ${are} approved in advance, for one device each.`;
}

const serialsOf = (listed: readonly Listed[]) => listed.map(({ serial }) => serial);

function match(serials: readonly Listed[], devices: readonly Device[]): Matched {
  const known = Map.groupBy(devices, ({ serial }) => serialKey(serial));
  const matched: Matched = { devices: [], unknown: [], ambiguous: [], placeholders: [] };
  const seen = new Set<string>();
  for (const each of serials) {
    const key = serialKey(each.serial);
    if (key === null) {
      matched.placeholders.push(each);
      continue;
    }
    if (seen.has(key)) continue;
    seen.add(key);
    const found = known.get(key) ?? [];
    const [only] = found;
    if (only === undefined) matched.unknown.push(each);
    else if (found.length > 1) matched.ambiguous.push(each);
    else matched.devices.push(only);
  }
  return matched;
}

const maxNamed = 20;

function linesOf({ unknown, ambiguous, placeholders }: Omit<Matched, "devices">): string[] {
  const line = (serials: readonly Listed[], what: string) => {
    const named = serials.map(({ serial, line }) => `${serial} (line ${line})`);
    return serials.length === 0 ? [] : [`${serials.length} ${what}: ${listed(named, maxNamed)}`];
  };
  return [
    ...line(unknown, "unknown"),
    ...line(ambiguous, "ambiguous, several devices have it"),
    ...line(placeholders, "not unique to one machine"),
  ];
}

interface Listed {
  serial: string;
  line: number;
}

/** Usual names of the column, without spaces and in lower case. */
const usualNames = ["serial", "serialnumber", "serialno", "sn", "deviceserial", "deviceserialnumber"];

const comparable = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** Reads one serial number per line, or a column of CSV (RFC 4180; with commas, semicolons or tabs). */
function readSerials(text: string, file: string, column?: string): Listed[] {
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
