import { openSettings, readSiteState } from "../../pipeline/index.ts";
import { table } from "../terminal/cells.ts";
import { answer, type Host } from "../terminal/host.ts";

const heading = ["", "BUILD", "TIME (UTC)", "ACTION", "PUBLISHER", "COMMIT", "REASON"];

export async function history(site: string, host: Host): Promise<void> {
  const state = await readSiteState(await openSettings(host.releases), site, host);
  answer<"history">(host, { site, ...state }, () => {
    const rows = state.history.map((entry, index) => [
      index === 0 && state.state === "done" ? "live" : "",
      entry.build.slice(0, 12),
      entry.at.slice(0, 19).replace("T", " "),
      entry.action,
      entry.publisher,
      entry.commit?.slice(0, 12) ?? "",
      reasonOf(entry),
    ]);
    const half =
      state.state === "publishing"
        ? [
            `${state.publisher} is publishing ${state.build?.slice(0, 12)}, until ${state.lease_until} at the latest`,
          ]
        : [];
    const held = state.hold
      ? [`Held since ${state.hold.since} by ${state.hold.by}: ${state.hold.reason}`]
      : [];
    return [table([heading, ...rows]), ...half, ...held].join("\n");
  });
}

type Entry = Awaited<ReturnType<typeof readSiteState>>["history"][number];

const reasonOf = ({ reason, unpushed, uncommitted }: Entry): string =>
  [
    reason,
    unpushed && `published before it was pushed: ${unpushed}`,
    uncommitted && `published without a commit: ${uncommitted}`,
  ]
    .filter(Boolean)
    .join("; ");
