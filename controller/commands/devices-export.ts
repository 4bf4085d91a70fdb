import type { OutputLine } from "../../cli/output/outputs.ts";
import { type Host, lineText, say } from "../../cli/terminal/host.ts";
import { count } from "../../cli/terminal/words.ts";
import { exitStatus } from "../../shared/errors.ts";
import { connect, type Place } from "./api.ts";
import { type Device, readDevices } from "./devices-select.ts";
import { writePrivate } from "./login-state.ts";

/** A device, or a decision made in advance for a serial number. */
export type ExportLine = OutputLine<"devices-export">;

/** `relcat devices export`: one JSON object per line, in order of creation. */
export async function exportDevices(options: Place & { out?: string }, host: Host): Promise<number> {
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
  return exitStatus.done;
}

type Decision = Exclude<ExportLine, Device> & { device_id: string | null; source: string };
