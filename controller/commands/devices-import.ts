import { readFileSync } from "node:fs";
import type { OutputLine } from "../../cli/output/outputs.ts";
import { answer, type Host, lineText, say } from "../../cli/terminal/host.ts";
import { confirmOrRefuse } from "../../cli/terminal/usage.ts";
import { count } from "../../cli/terminal/words.ts";
import { type Problem, RelcatError } from "../../shared/errors.ts";
import { serialKey } from "../server/devices/serials.ts";
import { type Connection, connect, type Place } from "./api.ts";
import { decide, move } from "./devices-move.ts";
import { type Device, readDevices, type State } from "./devices-select.ts";
import { writePrivate } from "./login-state.ts";

interface ImportOptions extends Place {
  dryRun?: true;
  yes?: true;
}

/** Differences between an export and the existing devices. */
interface Plan {
  states: Record<State, Device[]>;
  names: { id: string; name: string | null }[];
  assignments: { id: string; user: string | null }[];
  decisions: { serial: string; enforce_state: string }[];
  /** Devices that do not exist here and have no serial number to identify them. */
  unknown: number;
}

/** Applies names, owners and states of an export, and decides in advance on devices that do not exist yet. */
export async function importDevices(file: string, options: ImportOptions, host: Host): Promise<void> {
  const isInput = file === "-";
  const lines = readLines(readFileSync(isInput ? 0 : file, "utf8"), isInput ? "standard input" : file);
  const connection = connect(options, host);
  const plan = planOf(lines, await readDevices(connection));
  const { states, names, assignments, decisions, unknown } = plan;
  const moved = Object.values(states).reduce((sum, devices) => sum + devices.length, 0);
  const text = `${count(moved, "state")}, ${count(names.length, "name")}, ${count(assignments.length, "assignment")}, ${count(decisions.length, "decision")} in advance`;
  const changes = moved + names.length + assignments.length + decisions.length;
  if (!options.dryRun && changes > 0) {
    await confirmOrRefuse(`Set ${text}?`, options.yes, host);
    await apply(plan, connection, host);
  }
  answer<"devices-import">(
    host,
    {
      states: moved,
      names: names.length,
      assignments: assignments.length,
      decisions: decisions.length,
      unknown,
      dry_run: options.dryRun ?? false,
    },
    () => `${options.dryRun ? "Would set" : "Set"} ${text}.`,
  );
  if (unknown > 0) say(host, withoutSerial(unknown));
}

const withoutSerial = (amount: number) =>
  amount === 1
    ? "1 device of the file is not here and has no serial number of its own: nothing to do for it."
    : `${amount} devices of the file are not here and have no serial numbers of their own: nothing to do for them.`;

/** @throws RelcatError for every invalid line */
function readLines(text: string, file: string): ExportLine[] {
  const problems: Problem[] = [];
  const lines = text.split("\n").flatMap((line, index): ExportLine[] => {
    if (line.trim() === "") return [];
    const value = readLine(line);
    if (value !== undefined) return [value];
    problems.push({
      code: "devices-file",
      severity: "error",
      message: "the line is neither a device nor a decision from relcat devices export",
      hint: "Each line is one JSON object, as relcat devices export writes it.",
      at: { file, line: index + 1, column: 1, excerpt: line },
    });
    return [];
  });
  if (problems.length > 0) throw new RelcatError(problems);
  return lines;
}

function readLine(text: string): ExportLine | undefined {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const isTextOrNull = (member: string) => value[member] === null || typeof value[member] === "string";
  if (
    typeof value.serial === "string" &&
    ["accepted", "rejected", "retain"].includes(String(value.enforce_state))
  )
    return value as unknown as ExportLine;
  const isDevice =
    typeof value.id === "string" &&
    typeof value.public_key === "string" &&
    ["pending", "accepted", "rejected"].includes(String(value.state)) &&
    ["name", "serial", "assigned_to_user"].every(isTextOrNull);
  return isDevice ? (value as unknown as Device) : undefined;
}

function planOf(lines: readonly ExportLine[], devices: readonly Device[]): Plan {
  const plan: Plan = {
    states: { pending: [], accepted: [], rejected: [] },
    names: [],
    assignments: [],
    decisions: [],
    unknown: 0,
  };
  // Devices are matched by key, because ids differ between controllers.
  const here = new Map(devices.map((device) => [device.public_key, device]));
  const decided = new Map<string, { serial: string; enforce_state: string }>();
  for (const line of lines) {
    if ("enforce_state" in line) {
      decided.set(serialKey(line.serial) ?? line.serial, line);
      continue;
    }
    const device = here.get(line.public_key);
    if (device) compare(line, device, plan);
    else if (serialKey(line.serial) === null) plan.unknown++;
    else if (line.state !== "pending")
      decided.set(String(serialKey(line.serial)), { serial: String(line.serial), enforce_state: line.state });
  }
  plan.decisions = [...decided.values()].map(({ serial, enforce_state }) => ({ serial, enforce_state }));
  return plan;
}

function compare(wanted: Device, device: Device, plan: Plan): void {
  const { id } = device;
  if (wanted.state !== device.state) plan.states[wanted.state].push(device);
  if (wanted.name !== device.name) plan.names.push({ id, name: wanted.name });
  if (wanted.assigned_to_user !== device.assigned_to_user)
    plan.assignments.push({ id, user: wanted.assigned_to_user });
}

/** States come first, because they are bound to device versions, which every other change increments. */
async function apply(plan: Plan, connection: Connection, host: Host): Promise<void> {
  for (const [state, devices] of Object.entries(plan.states))
    await move(state as State, devices, connection, { yes: true, reason: "imported" }, host);
  for (const { id, name } of plan.names) await connection.ask("POST", `/device/${id}`, { name });
  for (const { id, user } of plan.assignments)
    await connection.ask("POST", "/device/assign", { device_id: id, user_id: user });
  await decide(plan.decisions, connection);
}

/** A device, or a decision made in advance for a serial number. */
type ExportLine = OutputLine<"devices-export">;

/** `relcat devices export`: one JSON object per line, in order of creation. */
export async function exportDevices(options: Place & { out?: string }, host: Host): Promise<void> {
  const connection = connect(options, host);
  const devices = await readDevices(connection);
  const { auth_decisions } = await connection.ask<{ auth_decisions: Decision[] }>(
    "GET",
    "/device/auth_decisions",
  );
  const decisions = auth_decisions
    .filter(({ source, device_id }) => source === "decision" && device_id === null)
    .map(({ serial, enforce_state }) => ({ serial, enforce_state }));
  const lines: ExportLine[] = [...devices, ...decisions];
  const text = lines.map((line) => `${lineText<"devices-export">(line)}\n`).join("");
  if (options.out === undefined) host.data.write(text);
  else writePrivate(options.out, text, host.pid);
  const where = options.out === undefined ? "" : ` to ${options.out}`;
  say(
    host,
    `Exported ${count(devices.length, "device")} and ${count(decisions.length, "decision")}${where}.`,
  );
}

type Decision = Exclude<ExportLine, Device> & { device_id: string | null; source: string };
