import { answer, type Host } from "../../cli/terminal/host.ts";
import { UsageError } from "../../cli/terminal/usage.ts";
import { exitStatus } from "../../shared/errors.ts";
import { connect } from "./api.ts";
import { doneLines, move, type StateOptions } from "./devices-move.ts";
import { readDevices, requireDevices, type State } from "./devices-select.ts";

export async function setStates(
  state: Exclude<State, "pending">,
  selectors: readonly string[],
  options: StateOptions,
  host: Host,
): Promise<number> {
  refuseMixed(state, selectors, options);
  const connection = connect(options, host);
  if (options.serials !== undefined) {
    const { setBySerials } = await import("./devices-serials.ts");
    return setBySerials(state, options.serials, connection, options, host);
  }
  const devices = options.allPending
    ? await readDevices(connection, { state: "pending" })
    : await requireDevices(connection, selectors);
  const moved = await move(state, devices, connection, options, host);
  answer<"devices-state">(host, { state, ...moved }, () => doneLines(state, moved).join(" "));
  return exitStatus.done;
}

function refuseMixed(state: State, selectors: readonly string[], options: StateOptions): void {
  const { serials, allPending, preapprove, includeRejected, column } = options;
  const ways = [selectors.length > 0, serials !== undefined, allPending !== undefined].filter(Boolean).length;
  if (ways !== 1)
    throw new UsageError(
      ways === 0 ? "no device is named" : "devices are selected in several ways",
      "Give selectors (ids, serial numbers, names), or --serials FILE, or --all-pending.",
    );
  if (column !== undefined && serials === undefined)
    throw new UsageError("--column needs --serials", "Add --serials FILE.");
  if (preapprove && (serials === undefined || state !== "accepted"))
    throw new UsageError(
      "--preapprove applies only to a list of serial numbers to accept",
      "Give it with relcat devices accept --serials FILE.",
    );
  if (includeRejected && (serials === undefined || state !== "accepted"))
    throw new UsageError(
      "--include-rejected applies only to a list of serial numbers to accept",
      "Give it with relcat devices accept --serials FILE; a device that is named is accepted anyway.",
    );
}
