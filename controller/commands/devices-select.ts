import type { OutputDocument } from "../../cli/output/outputs.ts";
import { listed } from "../../cli/terminal/words.ts";
import { type Problem, RelcatError } from "../../shared/errors.ts";
import { serialKey } from "../server/devices/serials.ts";
import type { Api } from "./api.ts";

export type Device = OutputDocument<"devices-show">["device"];
export type State = Device["state"];

export async function readDevices(
  api: Api,
  filters: Record<string, string | undefined> = {},
): Promise<Device[]> {
  const given = Object.entries(filters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const { devices } = await api.ask<{ devices: Record<string, Device> }>(
    "GET",
    `/device?${new URLSearchParams(given)}`,
  );
  return Object.values(devices);
}

/** With more selectors, the whole list is downloaded instead. */
const maxAsked = 20;

/** A selector is an id, a serial number or a name. @throws RelcatError for each that matches no device, or several */
export async function requireDevices(api: Api, selectors: readonly string[]): Promise<Device[]> {
  const candidates = await candidatesFor(api, selectors);
  const problems: Problem[] = [];
  const found = new Map<string, Device>();
  for (const selector of selectors) {
    const matches = candidates.filter((device) => isMeant(device, selector));
    const [only] = matches;
    if (only && matches.length === 1) found.set(only.id, only);
    else problems.push(unmatched(selector, matches));
  }
  if (problems.length > 0) throw new RelcatError(problems);
  return [...found.values()];
}

export async function requireDevice(api: Api, selector: string): Promise<Device> {
  const [device] = await requireDevices(api, [selector]);
  return device as Device;
}

function isMeant({ id, serial, name }: Device, selector: string): boolean {
  if (id === selector || name === selector || serial === selector) return true;
  const key = serialKey(selector);
  return key !== null && serialKey(serial) === key;
}

/** The server folds case only in ASCII, and limits the length. */
const canBeSought = (selector: string) => /^[\x20-\x7e]{1,255}$/.test(selector);

async function candidatesFor(api: Api, selectors: readonly string[]): Promise<Device[]> {
  if (selectors.length > maxAsked || !selectors.every(canBeSought)) return readDevices(api);
  const found = new Map<string, Device>();
  for (const q of selectors)
    for (const device of await readDevices(api, { q: q.trim() || q })) found.set(device.id, device);
  return [...found.values()];
}

function unmatched(selector: string, matches: readonly Device[]): Problem {
  const quoted = JSON.stringify(selector);
  const problem = (message: string, hint: string): Problem => ({
    code: "device-unmatched",
    severity: "error",
    message,
    hint,
  });
  if (matches.length === 0)
    return problem(
      `no device has the id, the serial number or the name ${quoted}`,
      "relcat devices list shows them all; --search finds parts of a name.",
    );
  const ids = matches.map(({ id, state }) => `${id} (${state})`);
  return problem(`${quoted} means ${matches.length} devices`, `Give one of their ids: ${listed(ids, 10)}`);
}
